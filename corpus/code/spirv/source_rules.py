"""What source languages say that their compilers leave nothing of in SPIR-V: variables that begin anew, and arguments
that a call copies back.

What a variable holds is undefined each time its declaration is reached (C23, 6.2.4; The OpenGL Shading Language 4.60,
4.1 and 4.2.2). Compilers move variables to the beginning of their function, where SPIR-V keeps what they hold, and only
some say by ``OpLifetimeStart`` where the declaration was. So a variable that is used in one loop alone is taken for one
that is declared there::

    for (int i = 0; i < 2; i++) { int x; if (i == 0) x = 1; a[i] = x; }      a[1] is undefined

GLSL hands functions copies of ``out`` and ``inout`` arguments, and copies them back in an order that it leaves open
(The OpenGL Shading Language 4.60, 6.1.1). What glslang chose is in the code::

    void f(inout int x, inout int y) { x += 1; y += 2; }        f(v, v) leaves one or the other sum in v
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, takewhile
from typing import NamedTuple

from corpus.code.computations import COMPUTATIONS
from corpus.code.spirv.module import Id, SpirvFunction, SpirvInstruction, SpirvModule

# variables that begin anew

_PLACES = ("OpBitcast", "OpCopyObject", "OpPtrCastToGeneric", "OpGenericCastToPtr")
"""Instructions, besides access chains, that give the address of a variable another name."""


class _Loop(NamedTuple):
    """The blocks of a loop from first to last, by their numbers, and the first that is done between two rounds."""

    first: int
    last: int
    between: int


def begun_anew(function: SpirvFunction) -> Mapping[str, tuple[str, ...]]:
    """Return the variables of a function that are used in one loop alone, and not between its rounds, by the label of
    the block with which each round begins.
    """
    loops = sorted(_loops(function), key=lambda loop: loop.last - loop.first)
    found: dict[str, tuple[str, ...]] = {}
    for variable, used in _uses(function).items() if loops else ():
        loop = next((each for each in loops if used and each.first <= min(used) and max(used) <= each.last), None)
        if loop is not None and max(used) < loop.between:
            label = function.blocks[loop.first].label
            found[label] = (*found.get(label, ()), variable)
    return found


def _loops(function: SpirvFunction) -> list[_Loop]:
    """Return the loops: the ways back to a block, which stands before those that it dominates (SPIR-V 1.6, 2.4)."""
    last: dict[int, int] = {}
    between: dict[int, int] = {}
    for number, block in enumerate(function.blocks):
        for ins in block.instructions[-2:]:
            targets = [function.labels[id] for id in ins.ids if id in function.labels]
            if ins.name == "OpLoopMerge" and len(targets) == 2:
                between[number] = targets[1]
            elif ins.name in ("OpBranch", "OpBranchConditional", "OpSwitch"):
                last |= {target: number for target in targets if target <= number}
    return [_Loop(first, end, max(between.get(first, end + 1), first + 1)) for first, end in last.items()]


def _uses(function: SpirvFunction) -> Mapping[str, set[int]]:
    """Return the numbers of the blocks in which each variable of a function is used. Its declaration counts where it
    has a value.
    """
    found: dict[str, set[int]] = {}
    named: dict[str, str] = {}
    for number, block in enumerate(function.blocks):
        for ins in block.instructions:
            own = [named[id] for id in ins.ids if id in named]
            if ins.is_variable and ins.result is not None:
                named[ins.result] = ins.result
                found[ins.result] = set() if ins.initializer is None else {number}
            elif own and ins.result is not None and ("AccessChain" in ins.name or ins.name in _PLACES):
                named[ins.result] = own[0]
            else:
                for variable in own:
                    found[variable].add(number)
    return found


# arguments that are copied back

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
    if module.languages.isdisjoint(_SOURCES):
        return
    uses = Counter(id for block in function.blocks for ins in block.instructions for id in ins.ids)
    for block in function.blocks:
        for number, ins in enumerate(block.instructions):
            if ins.name == "OpFunctionCall":
                stores = list(_stores(ins, block.instructions[number + 1 :], defined, uses))
                for (one, first), (other, second) in combinations(stores, 2):
                    place, there = _place(first.ids[0], defined), _place(second.ids[0], defined)
                    if one != other and place[0] == there[0] and not _apart(place[1:], there[1:], module):
                        length = min(len(place), len(there))
                        yield CopiesBack(first, second, place[:length] == there[:length])


def _stores(
    call: SpirvInstruction,
    behind: Sequence[SpirvInstruction],
    defined: Mapping[str, SpirvInstruction],
    uses: Mapping[str, int],
) -> Iterator[tuple[str, SpirvInstruction]]:
    """Yield the stores behind a call that copy back what its arguments hold, each with the argument: a variable that
    is there for this call alone. What is converted goes through another one, which is used twice in all.
    """
    holding = {id: id for id in call.ids[1:]}
    for ins in takewhile(lambda each: each.name != "OpFunctionCall", behind):
        if ins.name == "OpStore" and (argument := _argument(ins.ids[1], holding, defined)):
            pointer = ins.ids[0]
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
        return holding.get(_place(made.ids[0], defined)[0], "")
    if not made.name.startswith(("OpComposite", "OpVector")) and made.name not in COMPUTATIONS:
        return ""
    return next(filter(None, (_argument(id, holding, defined, depth + 1) for id in made.ids)), "")


def _place(pointer: str, defined: Mapping[str, SpirvInstruction]) -> tuple[str, ...]:
    """Return what a pointer is of: a variable, and its indices."""
    made = defined.get(pointer)
    if made is None or "AccessChain" not in made.name:
        return (pointer,)
    base, *indices = made.ids
    return (*_place(base, defined), *(_index(index, defined) for index in indices))


def _index(id: str, defined: Mapping[str, SpirvInstruction], depth: int = 0) -> str:
    """Return how an index is computed: two that are computed alike are one."""
    made = defined.get(id)
    if made is None or depth == _DEEP or not (made.name == "OpLoad" or made.name in COMPUTATIONS):
        return id
    parts = [
        _index(operand.name, defined, depth + 1) if isinstance(operand, Id) else str(operand)
        for operand in made.operands
    ]
    return f"{made.name} {made.type} ({', '.join(parts)})"


def _apart(one: Sequence[str], other: Sequence[str], module: SpirvModule) -> bool:
    """Return whether two rows of indices lead to different places whatever is computed: two constants differ."""

    def constant(id: str) -> bool:
        return id in module.globals and module.globals[id].name == "OpConstant"

    pairs = zip(one, other, strict=False)
    return any(a != b and constant(a) and constant(b) for a, b in pairs)
