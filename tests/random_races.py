"""Random kernels of OpenCL C with barriers, in which threads may race, for another detector of races to run.

Each thread has a few accesses of memory that all share, in steps that barriers part: plain ones and atomic ones, at
indices that ids say, in branches that ids decide, and in loops.
"""

from __future__ import annotations

from random import Random
from typing import NamedTuple

from corpus.code.launch.launch import ArrayArgument

CELLS = 4


class RacyKernel(NamedTuple):
    """A kernel by its text and its launch."""

    text: str
    blocks: int
    threads: int


def racy_kernel(seed: str, name: str = "k") -> RacyKernel:
    """The kernel of a seed."""
    rng = Random(f"races {seed}")
    blocks, threads = rng.choice(((1, 2), (1, 3), (2, 1), (2, 2)))
    lines = []
    for step in range(rng.randint(1, 3)):
        if step:
            lines.append(f"barrier({rng.choice(('CLK_LOCAL_MEM_FENCE', 'CLK_GLOBAL_MEM_FENCE'))});")
        for _ in range(rng.randint(1, 2)):
            lines += _statement(rng, threads)
    body = "\n".join(f"  {line}" for line in lines)
    head = f"kernel void {name}(global int *x, global int *out, global const int *in) {{\n"
    own = f"  local int s[{CELLS}];\n  int l = get_local_id(0), g = get_group_id(0), me = get_global_id(0), r = 0;\n"
    return RacyKernel(f"{head}{own}{body}\n  out[me] = r;\n}}\n", blocks, threads)


def _statement(rng: Random, threads: int) -> list[str]:
    way = rng.random()
    if way < 0.2:
        asked = rng.choice(("l == 0", "l == 1", "g == 0", "me > 0", f"l < {threads - 1}"))
        return [f"if ({asked}) {{", f"  {_access(rng)}", "}"]
    if way < 0.3:
        return [f"for (int i = 0; i < {rng.randint(1, 2)}; i++) {{", f"  {_access(rng, 'i')}", "}"]
    return [_access(rng)]


def _access(rng: Random, counted: str = "1") -> str:
    index = rng.choice(("l", "l", "me", "me", "g", f"l + {counted}", f"me ^ {counted}", f"l & {counted}", "0"))
    place = f"{rng.choice('xs')}[({index}) & {CELLS - 1}]"
    way = rng.random()
    if way < 0.4:
        return f"r += {place};"
    if way < 0.8:
        return f"{place} = {rng.choice(('l', 'me + 1', 'r', '7', 'in[l]'))};"
    return f"atomic_add(&{place}, {rng.randint(1, 3)});"


ARRAYS = {"x": CELLS, "out": 8, "in": 8}
"""The parameters, each with its number of elements, which are zeros."""


def simulation(kernel: RacyKernel, source: str, name: str = "k") -> str:
    """The launch of a kernel in the words of Oclgrind."""
    size = f"{kernel.blocks * kernel.threads} 1 1\n{kernel.threads} 1 1\n"
    return f"{source}\n{name}\n{size}" + "".join(f"<size={4 * count} fill=0 int>\n" for count in ARRAYS.values())


def arguments() -> dict[str, ArrayArgument]:
    """The parameters as ``check`` is given them."""
    return {name: ArrayArgument((), count, 4) for name, count in ARRAYS.items()}
