"""Arguments that a call copies back.

GLSL hands functions copies of ``out`` and ``inout`` arguments, and copies them back in an order that it leaves open
(The OpenGL Shading Language 4.60, 6.1.1). What glslang chose is in the code::

    void f(inout int x, inout int y) { x += 1; y += 2; }        f(v, v) leaves one or the other sum in v
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, takewhile
from typing import NamedTuple

from corpus.code.spirv.computing import COMPUTATIONS
from corpus.code.spirv.module import Enumerant, Id, SpirvFunction, SpirvInstruction, SpirvModule

_SOURCES = ("GLSL", "HLSL")
"""The languages that copy arguments back."""

_DEEP = 8
"""How many instructions deep indices are compared."""


class CopiesBack(NamedTuple):
    """Two stores that copy arguments of one call back to one place, in part or all, or not ``same``, to what may be."""

    first: SpirvInstruction
    second: SpirvInstruction
    same: bool


def copies_back(
    module: SpirvModule, function: SpirvFunction, defined: Mapping[str, SpirvInstruction]
) -> Iterator[CopiesBack]:
    """Yield pairs of stores by which a function, whose results are ``defined``, copies arguments of one call back."""
    sources = [each.operands[0] for each in module.others if each.name == "OpSource"]
    if not any(isinstance(each, Enumerant) and each.name in _SOURCES for each in sources):
        return
    uses = Counter(id for block in function.blocks for ins in block.instructions for id in _ids(ins))
    for block in function.blocks:
        for number, ins in enumerate(block.instructions):
            if ins.name == "OpFunctionCall":
                stores = list(_stores(ins, block.instructions[number + 1 :], defined, uses))
                for (one, first), (other, second) in combinations(stores, 2):
                    place, there = _place(_ids(first)[0], defined), _place(_ids(second)[0], defined)
                    if one != other and place[0] == there[0] and not _apart(place[1:], there[1:], module):
                        length = min(len(place), len(there))
                        yield CopiesBack(first, second, place[:length] == there[:length])


def _ids(ins: SpirvInstruction) -> list[str]:
    return [each.name for each in ins.operands if isinstance(each, Id)]


def _stores(
    call: SpirvInstruction,
    behind: Sequence[SpirvInstruction],
    defined: Mapping[str, SpirvInstruction],
    uses: Mapping[str, int],
) -> Iterator[tuple[str, SpirvInstruction]]:
    """Yield the stores behind a call that copy back what its arguments hold, each with the argument: a variable that
    is there for this call alone. What is converted goes through another one, which is used twice in all.
    """
    holding = {each: each for each in _ids(call)[1:]}
    for ins in takewhile(lambda each: each.name != "OpFunctionCall", behind):
        if ins.name == "OpStore" and (argument := _argument(_ids(ins)[1], holding, defined)):
            pointer = _ids(ins)[0]
            if uses[pointer] == _ONCE_EACH:
                holding[pointer] = argument
            yield argument, ins


_ONCE_EACH = 2
"""The uses of a variable that is stored to once and loaded from once."""


def _argument(value: str, holding: Mapping[str, str], defined: Mapping[str, SpirvInstruction], depth: int = 0) -> str:
    """Return the argument that a value is loaded from, or computed or composed of, by the variables that hold one;
    nothing where there is none.
    """
    made = defined.get(value)
    if made is None or depth == _DEEP:
        return ""
    if made.name == "OpLoad":
        return holding.get(_place(_ids(made)[0], defined)[0], "")
    if not made.name.startswith(("OpComposite", "OpVector")) and made.name not in COMPUTATIONS:
        return ""
    return next(filter(None, (_argument(each, holding, defined, depth + 1) for each in _ids(made))), "")


def _place(pointer: str, defined: Mapping[str, SpirvInstruction]) -> tuple[str, ...]:
    """Return what a pointer is of: a variable, and its indices."""
    made = defined.get(pointer)
    if made is None or "AccessChain" not in made.name:
        return (pointer,)
    base, *indices = _ids(made)
    return (*_place(base, defined), *(_index(each, defined) for each in indices))


def _index(id: str, defined: Mapping[str, SpirvInstruction], depth: int = 0) -> str:
    """Return how an index is computed: two that are computed alike are one."""
    made = defined.get(id)
    if made is None or depth == _DEEP or not (made.name == "OpLoad" or made.name in COMPUTATIONS):
        return id
    parts = [_index(each.name, defined, depth + 1) if isinstance(each, Id) else str(each) for each in made.operands]
    return f"{made.name} {made.type} ({', '.join(parts)})"


def _apart(one: Sequence[str], other: Sequence[str], module: SpirvModule) -> bool:
    """Return whether two rows of indices lead to different places whatever is computed: two constants differ."""

    def constant(id: str) -> bool:
        return id in module.globals and module.globals[id].name == "OpConstant"

    pairs = zip(one, other, strict=False)
    return any(a != b and constant(a) and constant(b) for a, b in pairs)
