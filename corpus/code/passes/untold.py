"""Where values go that nothing tells: the clock, an undefined value, what a function gives that nothing here computes.

The residual program has some number for such a value, in a register of its own. What is computed of it, and what is
read where it may have been stored, is as untold as it. That is right as long as it decides nothing: whether or where
memory is accessed, and whether an expectation holds, are not to be told by it::

    untold1 = 2130706433;  st x, untold1;    ld r1, x;  beq r1, 0, L0      the branch is not understood
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from corpus.code import ir
from corpus.code.places import ANYWHERE, Array
from corpus.code.refusals import NotUnderstoodError, refusal
from corpus.code.residual import Access, Residual
from corpus.litmus.instructions import (
    Assign,
    AsyncOperation,
    Barrier,
    Branch,
    GroupOperation,
    Load,
    Rmw,
    Store,
    addresses_of,
    operands_of,
)
from corpus.litmus.locations import Operand, Reg
from corpus.litmus.ptx_arithmetic import WIDTHS

Place = tuple[Array, int | None, int]
"""A part of an array: where it begins in bytes (None: anywhere), and its size."""


@dataclass
class UntoldValues:
    """Where values are that nothing tells: registers by thread, and places in arrays, each with what it came from.

    ``altered``: one goes through what may give the same result for several numbers, such as a minimum. Where none does,
    a result that hangs on one is another one for another number.
    """

    registers: list[dict[str, str]] = field(default_factory=list)
    places: dict[Place, str] = field(default_factory=dict)
    altered: bool = False

    def find_origin(self, access: Access | None) -> str | None:
        """Return what the value at a place may have come from; None where it is told."""
        if access is None:
            return None
        return next((why for place, why in self.places.items() if _overlap(place, access)), None)

    def of(self, array: Array, offset: int, size: int) -> str | None:
        """Return what the value of so many bytes may have come from; None where it is told."""
        return self.find_origin(Access(array, offset, size))


def doubts_decide(module: ir.Module, threads: Sequence[Sequence[Residual]]) -> bool:
    """Return whether a value that may not be determined decides whether or where memory is accessed: a result, or what
    an atomic operation on a floating-point number writes.
    """
    try:
        untold_values(module, [[*code, *_doubts(code)] for code in threads])
    except NotUnderstoodError:
        return True
    return False


def _doubts(code: Sequence[Residual]) -> Iterable[Residual]:
    """Yield assignments and stores of untold values in place of those that may not be determined."""
    why, some = "a result that is not determined", "untold"
    for residual in code:
        ins = residual.instruction
        if residual.doubtful:
            yield Residual(Assign(residual.doubtful, "mov", (0,)), residual.origin, untold=why)
        elif isinstance(ins, Rmw) and any(word[0] == "f" for word in ins.operation.split(".")[1:]):
            yield Residual(Assign(some, "mov", (0,)), residual.origin, untold=why)
            yield Residual(Store(ins.address, Reg(some), ins.mode), residual.origin, residual.access)


_ONE_TO_ONE = ("mov", "exch", "cvt", "add", "sub", "xor")
"""The operations on integers that give another result for another operand."""


def untold_values(
    module: ir.Module, threads: Sequence[Sequence[Residual]], begun: Mapping[Place, str] = MappingProxyType({})
) -> UntoldValues:
    """Return where untold values may be; ``begun`` are the places that hold some at the start.

    Raises ``NotUnderstoodError`` where one decides what is accessed.
    """
    found = UntoldValues([{} for _ in threads], dict(begun))
    if not begun and not any(residual.untold for code in threads for residual in code):
        return found
    before = -1
    while before != (before := len(found.places) + sum(map(len, found.registers))):
        for code, registers in zip(threads, found.registers, strict=True):
            for residual in code:
                _follow(found, registers, residual)
    for code, registers in zip(threads, found.registers, strict=True):
        for residual in code:
            why = _decided(found, registers, residual)
            if why is not None:
                what = f"{why}, whose value nothing tells, decides whether or where memory is accessed"
                raise refusal(module, residual.origin, what)
    return found


def _follow(found: UntoldValues, registers: dict[str, str], residual: Residual) -> None:
    """Note the registers and places that an instruction makes untold, and what their values come from."""
    ins = residual.instruction
    why = _first(registers, operands_of(ins)[len(addresses_of(ins)) :])
    match ins:
        case Assign(target, operation):
            _put(registers, target, residual.untold or why)
            found.altered |= why is not None and not _is_one_to_one(operation)
        case Load(target):
            _put(registers, target, found.find_origin(residual.access))
        case Store():
            _place(found, residual.access, why)
        case Rmw(operation, target):
            old = found.find_origin(residual.access)
            _put(registers, target, old)
            _place(found, residual.access, why)
            found.altered |= (old or why) is not None and not _is_one_to_one(operation)
        case AsyncOperation():
            why = why or next(filter(None, map(found.find_origin, residual.accesses)), None)
            found.altered |= why is not None
            for access in residual.accesses:
                _place(found, access, why)
        case GroupOperation(target=target):
            _put(registers, target, why)
            found.altered |= why is not None


def _is_one_to_one(operation: str) -> bool:
    """Decide whether an operation gives another result for another operand."""
    name, *words = operation.split(".")
    narrows = name == "cvt" and (len(words) != 2 or WIDTHS[words[0]] < WIDTHS[words[1]])
    return name in _ONE_TO_ONE and not narrows and not any("f" in word for word in words)


def _put(registers: dict[str, str], register: str | None, why: str | None) -> None:
    if register is not None and why is not None:
        registers.setdefault(register, why)


def _place(found: UntoldValues, access: Access | None, why: str | None) -> None:
    if access is not None and why is not None:
        found.places.setdefault((access.array, access.offset, access.size), why)


def _decided(found: UntoldValues, registers: Mapping[str, str], residual: Residual) -> str | None:
    """Return what decides whether or where an instruction accesses memory, if it is untold; None where it is told."""
    ins = residual.instruction
    deciding: Iterable[Operand] = addresses_of(ins)
    if isinstance(ins, Branch | Barrier | AsyncOperation):
        deciding = operands_of(ins)
    if isinstance(ins, Load) and ins.phase is not None:  # how long it waits
        deciding = (*deciding, ins.phase)
    if isinstance(ins, Rmw) and ins.operation.startswith("mbarrier."):  # how long others wait
        deciding = operands_of(ins)
    if isinstance(ins, Rmw) and ins.operation.partition(".")[0] == "cas":  # whether it writes
        deciding = (ins.address, *ins.operands[:1])
        if (why := found.find_origin(residual.access)) is not None:
            return why
    return _first(registers, deciding)


def _first(registers: Mapping[str, str], operands: Iterable[Operand]) -> str | None:
    """Return what an operand may have come from whose register is untold; None where all are told."""
    names = (operand.name for operand in operands if isinstance(operand, Reg))
    return next((registers[name] for name in names if name in registers), None)


def _overlap(place: Place, access: Access) -> bool:
    array, offset, size = place
    if ANYWHERE in (array, access.array):
        return True
    if array != access.array:
        return False
    return (
        offset is None
        or access.offset is None
        or (offset < access.offset + access.size and access.offset < offset + size)
    )
