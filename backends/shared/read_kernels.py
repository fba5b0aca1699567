"""Compiled kernels of tests, read back: PTX and SPIR-V of the kernel ``run`` of a single instance.

The kernel is specialised to its launch by ``corpus.code``, as those of users are: what is left of a thread are its
accesses, fences, barriers and branches on what was read. Each thread of the launch is the thread of the test at its
position, ``memory[k]`` is the test's location k in global memory, ``local_memory[k]`` that in shared memory, and
``results[k]`` keeps the k-th register of an outcome (``backends.shared.layout.single``).

What the reader of kernels takes for granted is an error here, but for what the launch makes true.

Gaps: final values of shared memory are not compared, for nothing reads them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from backends.shared.layout import Layout, single
from backends.shared.readback import CompiledTest, as_in_test
from corpus.code.ir import KernelFunction, Module
from corpus.code.launch.launch import KernelLaunch
from corpus.code.locations import ArrayCell
from corpus.code.places import argument_array
from corpus.code.program import KernelProgram, program_of
from corpus.code.ptx.reader import read_ptx
from corpus.code.spirv.files import read_spirv
from corpus.code.spirv.translation import translated
from corpus.errors import InputError
from corpus.litmus.instructions import Barrier, Branch, Comparison, Instruction, Load
from corpus.litmus.locations import Loc, Operand, Reg
from corpus.litmus.normal import map_operands
from corpus.litmus.propositions import And, Condition, Quantifier, Term
from corpus.litmus.test import LitmusTest
from corpus.litmus.threads import Thread

PARAMETERS = ("memory", "results", "seed")
"""The parameters of the kernel where they have an order; compilers that optimise drop their names."""

WORD = 4
"""Bytes of a location."""

_TRUE_HERE = re.compile(
    r"\w*zero\w* holds what the module gives it|memory of .* begins as zeros|.* is the address of an array"
    "|a thread that has ended is not waited for at bar.sync|the memory model GLSL450 is Vulkan's: .*"
)
"""What is taken for granted and is so in these launches, whose initial values are those of the test; and how accesses
without words of Vulkan's model are read, as naga writes them (docs/kernels.md)."""


def read_ptx_test(compiled: CompiledTest) -> LitmusTest:
    """Return what PTX of nvcc does, for a file of ``backends.cuda.memory``. Raises ``InputError`` as a reader does."""
    module = _ptx(compiled.text, compiled.path)
    return read_kernel(module, _kernel(module, compiled.kernel), PARAMETERS, compiled)


@lru_cache(maxsize=1)  # many tests may be compiled together
def _ptx(text: str, path: str) -> Module:
    return read_ptx(text, path)


def read_spirv_test(compiled: CompiledTest) -> LitmusTest:
    """Return what SPIR-V does: of GLSL, of WGSL, or of OpenCL C. Raises ``InputError`` as a reader does."""
    found = translated(read_spirv(compiled.code, compiled.path))
    kernel = _kernel(found.module, compiled.kernel)
    names = PARAMETERS if found.module.language == "opencl" else found.names[kernel.name]
    return read_kernel(found.module, kernel, names, compiled)


def _kernel(module: Module, name: str) -> KernelFunction:
    """Return the kernel of a name. Raises ``InputError`` where there is not one."""
    found = [kernel for kernel in module.kernels if re.fullmatch(name, kernel.name)]
    if len(found) != 1:
        raise InputError(f"expected one kernel called run, found {len(found)}", module.path)
    return found[0]


def read_kernel(module: Module, kernel: KernelFunction, names: Sequence[str], compiled: CompiledTest) -> LitmusTest:
    """Return what a kernel with a single instance of a test does, as the test's threads, locations and registers.

    ``names`` are those of its parameters in the source. Raises ``InputError`` as a reader does.
    """
    layout = compiled.layout or single(compiled.test)
    grid, block = (layout.groups, 1, 1), (layout.group_size, 1, 1)
    launch = KernelLaunch(
        grid, block, (layout.cluster, 1, 1), warp=layout.lanes, arguments={"seed": 0}, names=tuple(names)
    )
    program = program_of(module, kernel, launch)
    _check(program, module.path)
    places = {name: _term(cell, layout) for name, cell in program.locations.cells.items() if not _is_seed(cell)}
    unknown = [name for name, term in places.items() if term is None]
    if unknown:
        raise InputError(f"{unknown[0]} is memory that the test has not", module.path)
    shared = {location.name for location in layout.shareds}
    found = {name: term for name, term in places.items() if term is not None}
    read = as_in_test(replace(program.test, threads=_threads(program, launch, layout)), replace(compiled, names=found))
    observed = tuple(term for term in layout.terms if not isinstance(term, Loc) or term.name not in shared)
    return replace(read, condition=Condition(Quantifier.EXISTS, And(()), observed=observed))


def _check(program: KernelProgram, path: str) -> None:
    """Raise ``InputError`` where what is left of a kernel is not all of it."""
    for note in program.assumed:
        if not _TRUE_HERE.fullmatch(note):
            raise InputError(f"not taken for granted: {note}", path)
    if program.mixed:
        raise InputError(f"accesses of several sizes overlap in {program.mixed[0].array}", path)
    if program.marks.stops:
        raise InputError(f"P{program.marks.stops[0][0]} may stop: {program.marks.stops[0][1]}", path)
    if program.locations.outside or program.barriers.uncounted or program.barriers.divergent:
        raise InputError("accesses outside of arrays, or barriers in loops", path)


def _term(cell: ArrayCell, layout: Layout) -> Term | None:
    """Return what lies at a place of the launch's memory; None where nothing of the test does."""
    space, _, array = cell.array
    number, rest = divmod(cell.offset, WORD * layout.cell)
    if cell.size != WORD or rest:
        return None
    if space == "shared":
        return Loc(layout.shareds[number].name) if number < len(layout.shareds) else None
    array = array.removeprefix("plain_")
    if array.partition("_")[0] == "memory":
        return Loc(layout.globals[number].name) if number < len(layout.globals) else None
    terms = layout.terms
    return terms[number] if array == "results" and number < len(terms) else None


def _threads(program: KernelProgram, launch: KernelLaunch, layout: Layout) -> tuple[Thread, ...]:
    """Return the threads of the test. Those of the launch that play none have nothing but barriers."""
    of = {
        launch.block_number(ids) * layout.group_size + launch.thread_number(ids): thread
        for ids, thread in zip(program.ids, program.test.threads, strict=True)
    }
    empty = [Thread((), thread.place) for thread in layout.test.threads]
    threads = [_seeded(of.get(place, none), program) for place, none in zip(layout.positions, empty, strict=True)]
    return tuple(
        replace(thread, instructions=tuple(_counted(ins, thread, threads, layout) for ins in thread.instructions))
        for thread in threads
    )


def _is_seed(cell: ArrayCell) -> bool:
    """Return whether a place is the number of the launch, which GLSL reads from memory that nobody writes."""
    return (cell.array, cell.offset) == (argument_array("totals"), 0)


def _seeded(thread: Thread, program: KernelProgram) -> Thread:
    """Return a thread of the first launch, whose number is 0: it goes on where it asks whether the launch is only for
    the driver to compile the kernel.
    """
    seeds = [Loc(name) for name, cell in program.locations.cells.items() if _is_seed(cell)]
    numbers = {ins.target for ins in thread.instructions if isinstance(ins, Load) and ins.address in seeds}

    def known(operand: Operand) -> Operand:
        return 0 if isinstance(operand, Reg) and operand.name in numbers else operand

    kept: list[Instruction] = []
    for ins in thread.instructions:
        if isinstance(ins, Load) and ins.address in seeds:
            continue
        new = map_operands(ins, known) if numbers else ins
        if isinstance(new, Branch) and new.condition in (Comparison("eq", 0, -1), Comparison("eq", -1, 0)):
            continue
        kept.append(new)
    return replace(thread, instructions=tuple(kept))


def _counted(ins: Instruction, thread: Thread, threads: Sequence[Thread], layout: Layout) -> Instruction:
    """Return a barrier that waits for so many threads of the test, where it counts those of a launch; without a number
    where these are all that come to it.
    """
    if not isinstance(ins, Barrier) or not isinstance(ins.quorum, int):
        return ins
    comers = sum(
        any(isinstance(barrier, Barrier) and barrier.name == ins.name for barrier in other.instructions)
        for other in threads
        if other.place.shares(thread.place, ins.scope)
    )
    number = ins.quorum // layout.counted
    return replace(ins, quorum=None if number == comers else number)
