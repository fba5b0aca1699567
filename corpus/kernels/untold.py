"""Where values go that nothing tells: the clock, an undefined value, what a function gives that nothing here computes.

The residual program has some number for such a value, in a register of its own. What is computed of it, and what is
read where it may have been stored, is as untold as it. That is right as long as it decides nothing: whether or where
memory is accessed, and whether an expectation holds, are not to be told by it::

    untold1 = 2130706433;  st x, untold1;    ld r1, x;  beq r1, 0, L0      the branch is not understood
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from corpus.kernels import ir
from corpus.kernels.specialiser import Access, Residual, refusal
from corpus.litmus import test as litmus

_ANYWHERE = ""
"""The array of accesses by addresses that memory gives."""


@dataclass
class UntoldValues:
    """Where values are that nothing tells: registers by thread, and places in arrays, each with what it came from."""

    registers: list[dict[str, str]] = field(default_factory=list)
    places: dict[tuple[str, int | None, int], str] = field(default_factory=dict)

    def at(self, access: Access | None) -> str | None:
        """Return what the value at a place may have come from; None where it is told."""
        if access is None:
            return None
        return next((why for place, why in self.places.items() if _overlap(place, access)), None)

    def of(self, array: str, offset: int, size: int) -> str | None:
        """Return what the value of so many bytes may have come from; None where it is told."""
        return self.at(Access(array, offset, size))


def untold_values(module: ir.Module, threads: Sequence[Sequence[Residual]]) -> UntoldValues:
    """Return where untold values may be. Raises ``NotUnderstoodError`` where one decides what is accessed."""
    found = UntoldValues([{} for _ in threads])
    if not any(each.untold for code in threads for each in code):
        return found
    before = -1
    while before != (before := len(found.places) + sum(map(len, found.registers))):
        for code, registers in zip(threads, found.registers, strict=True):
            for each in code:
                _follow(found, registers, each)
    for code, registers in zip(threads, found.registers, strict=True):
        for each in code:
            why = _decided(found, registers, each)
            if why is not None:
                what = f"{why}, whose value nothing tells, decides whether or where memory is accessed"
                raise refusal(module, each.origin, what)
    return found


def _follow(found: UntoldValues, registers: dict[str, str], residual: Residual) -> None:
    """Note what an instruction makes untold."""
    ins = residual.instruction
    why = _first(registers, litmus.operands(ins)[len(litmus.addresses(ins)) :])
    match ins:
        case litmus.Assign(target):
            _put(registers, target, residual.untold or why)
        case litmus.Load(target):
            _put(registers, target, found.at(residual.access))
        case litmus.Store():
            _place(found, residual.access, why)
        case litmus.Rmw(target=target):
            _put(registers, target, found.at(residual.access))
            _place(found, residual.access, why)
        case litmus.AsyncOperation():
            why = why or next(filter(None, map(found.at, residual.accesses)), None)
            for access in residual.accesses:
                _place(found, access, why)
        case litmus.GroupOperation(target=target):
            _put(registers, target, why)


def _put(registers: dict[str, str], register: str | None, why: str | None) -> None:
    if register is not None and why is not None:
        registers.setdefault(register, why)


def _place(found: UntoldValues, access: Access | None, why: str | None) -> None:
    if access is not None and why is not None:
        found.places.setdefault((access.array, access.offset, access.size), why)


def _decided(found: UntoldValues, registers: Mapping[str, str], residual: Residual) -> str | None:
    """Return what decides whether or where an instruction accesses memory, if it is untold; None where it is told."""
    ins = residual.instruction
    deciding: Iterable[litmus.Operand] = litmus.addresses(ins)
    if isinstance(ins, litmus.Branch | litmus.Barrier | litmus.AsyncOperation):
        deciding = litmus.operands(ins)
    if isinstance(ins, litmus.Rmw) and ins.operation.partition(".")[0] == "cas":  # whether it writes
        deciding = (ins.address, *ins.operands[:1])
        if (why := found.at(residual.access)) is not None:
            return why
    return _first(registers, deciding)


def _first(registers: Mapping[str, str], operands: Iterable[litmus.Operand]) -> str | None:
    """Return what an operand may have come from whose register is untold; None where all are told."""
    names = (each.name for each in operands if isinstance(each, litmus.Reg))
    return next((registers[name] for name in names if name in registers), None)


def _overlap(place: tuple[str, int | None, int], access: Access) -> bool:
    array, offset, size = place
    if _ANYWHERE in (array, access.array):
        return True
    if array != access.array:
        return False
    return (
        offset is None
        or access.offset is None
        or (offset < access.offset + access.size and access.offset < offset + size)
    )
