"""What may hold an address: registers and arrays. Of what holds numbers alone every result has a meaning.

Assign("t2", "meaningless.and.b64", (Reg("c2"), 255))     is 0 where neither the memory that c2 was read
Branch("M1", eq t2 0)                                     from nor anything that it was computed of holds
Assign("stopped_by_unmeant", "mov", (1,))                 an address: nothing is left of it
Branch("END")
Label("M1")
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from corpus.code.places import ANYWHERE, Array, ArrayPlace
from corpus.code.residual import MARK, UNMEANT, Residual, why_of
from corpus.litmus.arithmetic import MEANINGLESS
from corpus.litmus.instructions import Assign, Branch, Label, Load, Rmw, Store
from corpus.litmus.locations import Operand, Reg

_CHECK = 5
"""The instructions by which a thread stops where a result has no meaning."""


def without_needless_checks(codes: Sequence[Sequence[Residual]], addresses: Iterable[Array]) -> list[list[Residual]]:
    """Return threads that do not ask whether results of numbers have a meaning. ``addresses``: the arrays that hold
    addresses where threads begin.
    """
    if not any(_is_check(code, place) for code in codes for place in range(len(code))):
        return [[*code] for code in codes]
    held = _holders(codes, addresses)
    done = []
    for number, code in enumerate(codes):
        kept, place = list[Residual](), 0
        while place < len(code):
            if _is_check(code, place) and not _may_be_address(held, number, code[place]):
                place += _CHECK
                continue
            kept.append(code[place])
            place += 1
        done.append(kept)
    return done


def _is_check(code: Sequence[Residual], place: int) -> bool:
    """Decide whether a thread asks, from a place on, whether a result has a meaning, and stops where it has none."""
    match [residual.instruction for residual in code[place : place + _CHECK]]:
        case [Assign(flag, operation), Branch(going, condition), Assign(mark), Branch(_, None), Label(label)]:
            asks = operation.startswith(MEANINGLESS) and mark.startswith(MARK) and why_of(mark) == UNMEANT
            return asks and going == label and condition is not None and condition.left == Reg(flag)
    return False


_Holder = Array | tuple[int, str]
"""An array, or a register of the thread with a number."""


def _may_be_address(held: set[_Holder], number: int, residual: Residual) -> bool:
    ins = residual.instruction
    return isinstance(ins, Assign) and any(_is_held(held, number, operand) for operand in ins.operands)


def _is_held(held: set[_Holder], number: int, operand: Operand | None) -> bool:
    return isinstance(operand, ArrayPlace) or (isinstance(operand, Reg) and (number, operand.name) in held)


def _holders(codes: Sequence[Sequence[Residual]], addresses: Iterable[Array]) -> set[_Holder]:
    """Return what may hold an address, of all that anything may be read from or computed of."""
    held: set[_Holder] = set(addresses)
    size = -1
    while size != len(held):
        size = len(held)
        for number, code in enumerate(codes):
            for residual in code:
                held.update(_new_holders(held, number, residual))
    return held


def _new_holders(held: set[_Holder], number: int, residual: Residual) -> Iterable[_Holder]:
    """Yield what holds an address behind an instruction. An address from memory may lead to any array."""
    arrays = {access.array for access in residual.accesses}
    written = {array for array in held if isinstance(array, Array)}
    reads = bool(arrays & written) or (bool(written) and ANYWHERE in arrays) or ANYWHERE in written
    match residual.instruction:
        case Assign(target, operation, operands) if not operation.startswith(MEANINGLESS):
            if any(_is_held(held, number, operand) for operand in operands):
                yield number, target
        case Load(target):
            if reads:
                yield number, target
        case Rmw(target=target, operands=operands):
            if any(_is_held(held, number, operand) for operand in operands):
                yield from arrays
            if reads and target is not None:
                yield number, target
        case Store(value=value):
            if _is_held(held, number, value):
                yield from arrays
