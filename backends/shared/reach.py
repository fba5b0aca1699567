"""Shows that each access of a test's program is to a location of the test. A test of which that is not shown is refused
before its program is written.

A register may hold an address to which something was added. In a program an address is an index into an array, so that
with any number but 0 added it is that of a word between locations, of another instance, or of no array at all: no test
is run that might go there.

What registers and memory may hold is followed through the code: sets of numbers and of addresses with what was added,
the values of a location those of all writes to it, whatever their order. None comes out of thin air, so that a write
that is in no loop makes new values of others once. A register less itself, or in ``xor`` with itself, is 0, and so is
what meets 0 in ``and``, as tests have it that only want a dependency. A set of more than ``MOST`` values is that of
all; so is that of what an asynchronous operation writes, or tells. Conditions of branches are not looked at.

Source: abstract interpretation by finite sets, Cousot and Cousot, POPL 1977. Gap: a test whose program would keep to
its locations for a reason that is not seen in this way, as a branch around an access, is refused.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterable, Iterator, Mapping
from itertools import count, product

from corpus.litmus.arithmetic import compute
from corpus.litmus.describe import cannot_say
from corpus.litmus.flow import thread_flow
from corpus.litmus.instructions import (
    COMPARISONS,
    Assign,
    AsyncOperation,
    Branch,
    Instruction,
    Label,
    Load,
    Rmw,
    Store,
    is_asynchronous,
    registers_written,
)
from corpus.litmus.locations import Loc, Operand, Reg
from corpus.litmus.test import LitmusTest
from corpus.litmus.threads import Thread

MOST = 64
"""Values that are followed of a register or location."""

_Value = int | tuple[str, int]  # a number, or a location and what was added to its address
_Values = frozenset[_Value] | None  # None: any number or address
_ZERO: _Values = frozenset({0})
_Registers = dict[str, _Values]
_Access = Load | Store | Rmw


def check_accesses(test: LitmusTest) -> None:
    """Raise ``InputError``, with thread and instruction, where an access may be to no location of the test."""
    every = test.instructions
    if not any(isinstance(ins, _Access) and isinstance(ins.address, Reg) for ins in every):
        return
    memory: dict[str, _Values] = {location.name: _constant(location.initial) for location in test.locations}
    copied = (ins.target for ins in every if isinstance(ins, AsyncOperation))
    memory |= {target.name: None for target in copied if isinstance(target, Loc)}
    for _ in _rounds(test):
        after = dict(memory)
        for thread in test.threads:
            for ins, registers in _states(thread, memory):
                for name in _accessed(ins, registers) or ():
                    after[name] = _joined(after[name], _written(ins, registers, memory[name]))
        if after == memory:
            break
        memory = after
    for number, thread in enumerate(test.threads):
        for ins, registers in _states(thread, memory):
            if isinstance(ins, _Access) and _accessed(ins, registers) is None:
                raise cannot_say(number, ins, _reason(_possible(ins.address, registers)))


def _rounds(test: LitmusTest) -> Iterable[int]:
    """How often values may be made of others: once by each write, any number of times where one is in a loop."""
    writes = 0
    for thread in test.threads:
        at_writes = [place for place, ins in enumerate(thread.instructions) if isinstance(ins, Store | Rmw)]
        writes += len(at_writes)
        if any(bisect(at_writes, head) < bisect(at_writes, end) for end, head in thread_flow(thread).jumps):
            return count()
    return range(writes)


def _reason(values: _Values) -> str:
    if values is None:
        return "its address may be no location's: what is added to one is not known"
    numbers = sorted(value for value in values if isinstance(value, int))
    if numbers:
        return (
            "the address is a number" if len(numbers) == len(values) else f"its address may be the number {numbers[0]}"
        )
    name, added = min(value for value in values if isinstance(value, tuple) and value[1])
    return f"its address may be &{name}{added:+d}, and each location stands by itself here"


def _states(thread: Thread, memory: Mapping[str, _Values]) -> Iterator[tuple[Instruction, _Registers]]:
    """Each instruction that control gets to, with what the registers may hold there, given what memory may; to be used
    before the next one is asked for."""
    at_labels: dict[str, _Registers] = {}
    before: dict[str, _Registers] | None = None
    while at_labels != before:  # a jump backwards tells a label more
        before = dict(at_labels)
        for _ in _walk(thread, memory, at_labels):
            pass
    yield from _walk(thread, memory, at_labels)


def _walk(
    thread: Thread, memory: Mapping[str, _Values], at_labels: dict[str, _Registers]
) -> Iterator[tuple[Instruction, _Registers]]:
    """What may be held at each instruction, given what may be held at labels, as far as that is known; it is known
    better behind.
    """
    begin = {name: _constant(value) for name, value in thread.registers}
    here: _Registers | None = {**dict.fromkeys(thread.names, _ZERO), **begin}
    for ins in thread.instructions:
        if isinstance(ins, Label):
            here = dict(at_labels[ins.name]) if _meets(at_labels, ins.name, here) else None
        if here is None:  # nothing comes by
            continue
        yield ins, here
        if isinstance(ins, Branch):
            _meets(at_labels, ins.label, here)
            here = None if ins.condition is None else here
        else:
            here |= _assigned(ins, here, memory)


def _meets(at_labels: dict[str, _Registers], label: str, here: _Registers | None) -> bool:
    """Enters what may be held where one more way leads to a label, if any; whether any does."""
    if here is not None:
        known = at_labels.get(label, here)
        at_labels[label] = {
            name: values if known[name] is values else _joined(known[name], values) for name, values in here.items()
        }
    return label in at_labels


def _assigned(ins: Instruction, registers: _Registers, memory: Mapping[str, _Values]) -> _Registers:
    """The registers that an instruction sets, and what they may hold then."""
    if is_asynchronous(ins):
        return dict.fromkeys(registers_written(ins))
    match ins:
        case Assign(target, "mov", (operand,)):
            return {target: _possible(operand, registers)}
        case Assign(target, operation, (left, right)):
            same = left == right and isinstance(left, Reg) and operation in ("sub", "xor")
            values = (_possible(side, registers) for side in (left, right))
            return {target: _ZERO if same else _applied(operation, *values)}
        case Load(target=str(target)) | Rmw(target=str(target)):
            names = _accessed(ins, registers)
            read = None if names is None else _joined(*(memory[name] for name in names))
            tells = {ins.success: frozenset({0, 1})} if isinstance(ins, Rmw) and ins.success else {}
            return {target: read, **tells}
        case Rmw(success=str(success)):
            return {success: frozenset({0, 1})}
    return {}


def _written(ins: Instruction, registers: _Registers, old: _Values) -> _Values:
    """What an instruction may write where ``old`` may be."""
    if is_asynchronous(ins):
        return None
    match ins:
        case Store(value=value) | Rmw(operation="exch", operands=(value,)) | Rmw(operation="cas", operands=(_, value)):
            return _possible(value, registers)
        case Rmw(operation=operation, operands=(operand,)):
            return _applied(operation, old, _possible(operand, registers))
    return frozenset()


def _accessed(ins: Instruction, registers: _Registers) -> list[str] | None:
    """The locations that an instruction may access; None where it may be none."""
    if not isinstance(ins, _Access):
        return []
    values = _possible(ins.address, registers)
    if values is None or not all(isinstance(value, tuple) and not value[1] for value in values):
        return None
    return sorted(value[0] for value in values if isinstance(value, tuple))


def _possible(operand: Operand, registers: _Registers) -> _Values:
    return registers[operand.name] if isinstance(operand, Reg) else _constant(operand)


def _constant(operand: Operand) -> _Values:
    assert not isinstance(operand, Reg)
    return frozenset({(operand.name, 0) if isinstance(operand, Loc) else operand})


def _joined(*values: _Values) -> _Values:
    if None in values:
        return None
    every = frozenset[_Value]().union(*(value for value in values if value is not None))
    return every if len(every) <= MOST else None


def _applied(operation: str, left: _Values, right: _Values) -> _Values:
    if operation in ("and", "mul") and _ZERO in (left, right):
        return _ZERO
    if operation in COMPARISONS:
        return frozenset({0, 1})
    if left is None or right is None:
        return None
    made: set[_Value] = set()
    for one, other in product(left, right):
        match operation, one, other:
            case _, int(), int():
                made.add(compute(operation, one, other))
            case (("add" | "sub"), (str(name), int(added)), int()):
                made.add((name, compute(operation, added, other)))
            case "add", int(), (str(name), int(added)):
                made.add((name, compute(operation, added, one)))
            case _:
                return None
    return frozenset(made) if len(made) <= MOST else None
