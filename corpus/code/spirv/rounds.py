"""Variables of a function that may begin anew in each round of a loop.

A language says that what a variable holds is undefined each time its declaration is reached (C23, 6.2.4; The OpenGL
Shading Language 4.60, 4.1 and 4.2.2). Compilers move variables to the beginning of their function, where SPIR-V keeps
what they hold, and only some say by ``OpLifetimeStart`` where the declaration was. So a variable that is used in one
loop alone is taken for one that is declared there::

    for (int i = 0; i < 2; i++) { int x; if (i == 0) x = 1; a[i] = x; }      a[1] is undefined
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from corpus.code.spirv.module import Id, SpirvFunction, SpirvInstruction

_VARIABLES = ("OpVariable", "OpUntypedVariableKHR")
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
            targets = [function.labels[each] for each in _ids(ins) if each in function.labels]
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
            own = [named[each] for each in _ids(ins) if each in named]
            if ins.name in _VARIABLES and ins.result is not None:
                named[ins.result] = ins.result
                found[ins.result] = {number} if len(_ids(ins)) > (ins.name != "OpVariable") else set()
            elif own and ins.result is not None and ("AccessChain" in ins.name or ins.name in _PLACES):
                named[ins.result] = own[0]
            else:
                for variable in own:
                    found[variable].add(number)
    return found


def _ids(ins: SpirvInstruction) -> list[str]:
    return [each.name for each in ins.operands if isinstance(each, Id)]
