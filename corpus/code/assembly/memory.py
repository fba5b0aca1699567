"""Reads and writes memory as a processor does: the stack is known, an access of a location stays, a result is kept.

    movq %rdi, -8(%rsp)      8 bytes of the stack hold AffineValue("memory")
    movl %eax, 256(%rdi)     [y] := v0
    movl %eax, (%rsi)        a register that the condition asks for: a store to a location of its own, for now

Exclusive accesses stay as ``ExclusiveLoad`` and ``ExclusiveStore``; ``corpus.code.passes.exclusives`` makes one
operation of both.
"""

from __future__ import annotations

from corpus.code.assembly.harness import WORD
from corpus.code.assembly.sums import assign, give_operand, lower, sum_terms, take_byte
from corpus.code.assembly.thread import AssemblyThread, OpenPair, ProcessorState, Slot
from corpus.code.assembly.values import (
    MEMORY,
    RESULTS,
    STACK,
    AffineValue,
    ComparedFlags,
    MachineValue,
    UnknownValue,
    register,
)
from corpus.code.passes.exclusives import ExclusiveLoad, ExclusiveStore, RetriedExchange
from corpus.litmus.arithmetic import compute
from corpus.litmus.instructions import Branch, Comparison, Fence, Label, Load, Rmw, Store
from corpus.litmus.locations import Loc, Operand, Reg
from corpus.litmus.orders import PLAIN, Mode

_TRIED = (0, 1, 2, 3)
"""Numbers that tests have."""

PAIR = "pair"
"""The key of the exclusive load whose store has not come yet."""

STATUS, CONTROL = "s", "C"
"""The first letters of registers that hold whether an exclusive store has failed, and of labels behind branches."""


def _place(thread: AssemblyThread, address: MachineValue, size: int) -> AffineValue:
    if isinstance(address, UnknownValue):
        raise thread.wrong(address.reason)
    if address.base not in (STACK, MEMORY, RESULTS):
        raise thread.wrong("it accesses memory at an address that is not understood")
    if address.base != MEMORY and address.terms:
        raise thread.wrong(f"it accesses the {address.base} at an address that was computed of what was read")
    if address.base != STACK and size != WORD:
        raise thread.wrong(f"an access of {size} bytes, and locations have {WORD}")
    if address.base != STACK and address.low:
        raise thread.wrong("an address of which only the lowest 32 bits are known")
    return address


def _address(thread: AssemblyThread, place: AffineValue) -> Operand:
    name = thread.names.locations.get(place.number)
    if name is None or any(factor % WORD for _, factor in place.terms):
        raise thread.wrong(f"byte {place.number} of the memory is no location of the test")
    if not place.terms:
        return Loc(name)
    if any(_try(thread, place.terms, read) for read in _TRIED):
        raise thread.wrong("an address that is another one for each value that is read")
    added = sum_terms(thread, 0, tuple((held, factor // WORD) for held, factor in place.terms))
    ((target, _),) = assign(thread, "add", Loc(name), added).terms
    return Reg(target)


def _try(thread: AssemblyThread, terms: tuple[tuple[str, int], ...], read: int) -> int:
    """Return what is added to an address where all that is read is one number. It is 0 for every number of a test, or
    the address is of no location.
    """
    values: dict[str, int] = {}

    def value(name: str) -> int:
        if name not in values:
            made = thread.assignment(name)
            given = [] if made is None else [it for it in made.operands if not isinstance(it, Loc)]
            numbers = [it if isinstance(it, int) else value(it.name) for it in given]
            values[name] = read if made is None else compute(made.operation, *numbers)
        return values[name]

    return sum(factor * value(name) for name, factor in terms)


def load(
    thread: AssemblyThread, state: ProcessorState, address: MachineValue, size: int, mode: Mode = PLAIN
) -> MachineValue:
    """Return what a load of so many bytes gives."""
    place = _place(thread, address, size)
    if place.base == MEMORY:
        target = thread.new_register()
        thread.put(Load(target, _address(thread, place), mode))
        return register(target)
    slot = state.known.get((str(place.base), place.number))
    if not isinstance(slot, Slot):
        return UnknownValue("it reads of the stack what was not put there")
    if slot.size < size:
        return UnknownValue("it reads more bytes of the stack than were put there")
    return take_byte(thread, slot.value) if size == 1 else lower(thread, slot.value) if size == WORD else slot.value


def store(
    thread: AssemblyThread,
    state: ProcessorState,
    address: MachineValue,
    size: int,
    value: MachineValue,
    mode: Mode = PLAIN,
) -> None:
    """Store a value of so many bytes."""
    place = _place(thread, address, size)
    if place.base == MEMORY:
        thread.put(Store(_address(thread, place), give_operand(thread, value), mode))
        return
    key = (str(place.base), place.number)
    if place.base == RESULTS:
        if place.number not in thread.kept:
            raise thread.wrong(f"byte {place.number} of the results is no register of this thread")
        thread.put(Store(Loc(thread.kept[place.number]), give_operand(thread, value), mode))
    else:
        for other, slot in list(state.known.items()):
            if not isinstance(slot, Slot) or not isinstance(other, tuple) or other[0] != STACK or other == key:
                continue
            if other[1] < key[1] + size and key[1] < other[1] + slot.size:
                state.forget(other)
    state.put(key, Slot(take_byte(thread, value) if size == 1 else value, size))


def fence(thread: AssemblyThread, mode: Mode) -> None:
    """Append a fence."""
    thread.put(Fence(mode))


def update(
    thread: AssemblyThread,
    operation: str,
    address: MachineValue,
    operands: tuple[MachineValue, ...],
    mode: Mode,
    wanted: bool = True,
) -> MachineValue:
    """Return what an atomic operation has read."""
    place = _place(thread, address, WORD)
    if place.base != MEMORY:
        raise thread.wrong(f"an atomic operation on the {place.base}")
    target = thread.new_register() if wanted else None
    given = tuple(give_operand(thread, value) for value in operands)
    thread.put(Rmw(operation, target, _address(thread, place), given, mode))
    return UnknownValue("nothing is read") if target is None else register(target)


def load_exclusive(thread: AssemblyThread, state: ProcessorState, address: MachineValue, mode: Mode) -> MachineValue:
    """Begin an exclusive pair, and return what its load reads."""
    place = _place(thread, address, WORD)
    if place.base != MEMORY:
        raise thread.wrong("it begins an exclusive pair within another one, or not of a location")
    operand = _address(thread, place)
    target = thread.new_register()
    thread.put(ExclusiveLoad(target, operand, mode))
    state.put(PAIR, OpenPair(place, operand, target))
    return register(target)


def store_exclusive(
    thread: AssemblyThread,
    state: ProcessorState,
    address: MachineValue,
    value: MachineValue,
    mode: Mode,
    once: bool = False,
) -> MachineValue:
    """End an exclusive pair, and return what is 0 where it succeeds, and 1 where it fails.

    ``mode`` is how its store is done. ``once``: it may be a compare-exchange that is not tried again, where nothing
    asks whether it succeeds.
    """
    pair = state.known.get(PAIR)
    if not isinstance(pair, OpenPair) or pair.place != address:
        raise thread.wrong("an exclusive store without a load of the same address before it")
    state.forget(PAIR)
    if isinstance(value, UnknownValue):
        raise thread.wrong(value.reason)
    if value.base is not None:
        raise thread.wrong("an address or a register of the caller is used as a number")
    status = thread.new_register(STATUS)
    thread.bits.add(status)
    thread.put(ExclusiveStore.of(pair.address, value, mode, status, once))
    return register(status)


def compare_exchange(
    thread: AssemblyThread, address: MachineValue, expected: MachineValue, value: MachineValue, mode: Mode
) -> tuple[MachineValue, ComparedFlags]:
    """Return what a compare-exchange has read, and the flags of its comparison. One in a loop may be one that is tried
    again until it succeeds.
    """
    if thread.in_loop and isinstance(value, AffineValue) and value.base is None:
        place = _place(thread, address, WORD)
        if place.base == MEMORY:
            target, given = thread.new_register(), give_operand(thread, expected)
            thread.put(RetriedExchange.of(target, _address(thread, place), given, value, mode))
            return register(target), ComparedFlags(expected, register(target))
    read = update(thread, "cas", address, (expected, value), mode)
    return read, ComparedFlags(expected, read)


def control(thread: AssemblyThread, status: MachineValue) -> None:
    """Append a branch on whether an exclusive store has succeeded whose two ways are one: what comes after depends on
    it.
    """
    label, read = f"{CONTROL}{thread.new_register()}", give_operand(thread, status)
    thread.put(Branch(label, Comparison("eq", read, read)))
    thread.put(Label(label))
