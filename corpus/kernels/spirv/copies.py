"""Arguments that a call copies back.

GLSL hands functions copies of ``out`` and ``inout`` arguments, and copies them back in an order that it leaves open
(The OpenGL Shading Language 4.60, 6.1.1). What glslang chose is in the code::

    void f(inout int x, inout int y) { x += 1; y += 2; }        f(v, v) leaves one or the other sum in v
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from corpus.kernels.spirv.computing import computation
from corpus.kernels.spirv.module import Id, SpirvFunction, SpirvInstruction, SpirvModule

_SOURCES = ("GLSL", "HLSL")
"""The languages that copy arguments back."""

_DEEP = 8
"""How many instructions deep indices are compared."""


class CopiesBack(NamedTuple):
    """Two stores that copy arguments of one call back, and whether they are certainly to one place."""

    first: SpirvInstruction
    second: SpirvInstruction
    same: bool


def copies_back(module: SpirvModule, function: SpirvFunction) -> Iterator[CopiesBack]:
    """Yield pairs of stores by which a function copies arguments of one call back to what may be one place."""
    if not any(source in map(str, _names(each)) for each in module.others for source in _SOURCES):
        return
    defined = {ins.result: ins for block in function.blocks for ins in block.instructions if ins.result}
    for block in function.blocks:
        for number, ins in enumerate(block.instructions):
            if ins.name == "OpFunctionCall":
                stores = list(_stores(ins, block.instructions[number + 1 :], defined))
                for at, second in enumerate(stores):
                    for first in stores[:at]:
                        one, other = _place(_ids(first)[0], defined), _place(_ids(second)[0], defined)
                        if one[0] == other[0] and not _apart(one[1:], other[1:], module):
                            yield CopiesBack(first, second, one == other)


def _names(ins: SpirvInstruction) -> list[str]:
    return [getattr(each, "name", "") for each in ins.operands] if ins.name == "OpSource" else []


def _ids(ins: SpirvInstruction) -> list[str]:
    return [each.name for each in ins.operands if isinstance(each, Id)]


def _stores(
    call: SpirvInstruction, behind: Sequence[SpirvInstruction], defined: dict[str, SpirvInstruction]
) -> Iterable[SpirvInstruction]:
    """Yield the stores right behind a call that copy the variables back which are its arguments."""
    arguments = _ids(call)[1:]
    for ins in behind:
        if ins.name == "OpStore":
            value = defined.get(_ids(ins)[1])
            if value is None or value.name != "OpLoad" or _ids(value)[0] not in arguments:
                return
            yield ins
        elif ins.result is None:
            return


def _place(pointer: str, defined: dict[str, SpirvInstruction]) -> tuple[str, ...]:
    """Return what a pointer is of: a variable, and its indices."""
    made = defined.get(pointer)
    if made is None or "AccessChain" not in made.name:
        return (pointer,)
    base, *indices = _ids(made)
    return (*_place(base, defined), *(_index(each, defined) for each in indices))


def _index(id: str, defined: dict[str, SpirvInstruction], depth: int = 0) -> str:
    """Return how an index is computed: two that are computed alike are one."""
    made = defined.get(id)
    if made is None or depth == _DEEP or not (made.name == "OpLoad" or computation(made.name)):
        return id
    parts = [_index(each.name, defined, depth + 1) if isinstance(each, Id) else str(each) for each in made.operands]
    return f"{made.name} {made.type} ({', '.join(parts)})"


def _apart(one: Sequence[str], other: Sequence[str], module: SpirvModule) -> bool:
    """Return whether two rows of indices lead to different places whatever is computed: two constants differ."""

    def constant(id: str) -> bool:
        return id in module.globals and module.globals[id].name == "OpConstant"

    pairs = zip(one, other, strict=False)
    return any(a != b and constant(a) and constant(b) for a, b in pairs)
