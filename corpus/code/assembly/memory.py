"""Reads and writes memory as a processor does: the stack is known, an access of a location stays, a result is kept.

    movq %rdi, -8(%rsp)      8 bytes of the stack hold Affine(MEMORY)
    movl %eax, 256(%rdi)     [y] := v0
    movl %eax, (%rsi)        a register that the condition asks for: a store to a location of its own, for now

Exclusive accesses stay as ``ExclusiveLoad`` and ``ExclusiveStore``; ``corpus.code.assembly.exclusives`` makes one
operation of both.
"""

from __future__ import annotations

from typing import NamedTuple

from corpus.code.assembly.exclusives import ExclusiveLoad, ExclusiveStore, RetriedExchange
from corpus.code.assembly.harness import WORD
from corpus.code.assembly.joins import is_in_loop
from corpus.code.assembly.sums import assign, give_operand, lower, sum_terms, take_byte
from corpus.code.assembly.thread import MEMORY, RESULTS, STACK, MachineValue, ProcessorState, ProcessorThread
from corpus.code.places import Array, cell_of
from corpus.code.values import Affine, Compared, Unknown, register
from corpus.errors import InputError
from corpus.litmus.arithmetic import compute
from corpus.litmus.instructions import Assign, Branch, Comparison, Fence, Label, Load, Rmw, Store
from corpus.litmus.locations import Loc, Operand, Reg
from corpus.litmus.orders import PLAIN, Mode

_TRIED = (0, 1, 2, 3)
"""Numbers that tests have."""

PAIR = "pair"
"""The name under which the address of an exclusive load is known whose store has not come yet."""

STATUS, CONTROL = "s", "C"
"""The first letters of registers that hold whether an exclusive store has failed, and of labels behind branches."""


class _Place(NamedTuple):
    """Where an access is: an array, an offset in bytes, and registers with coefficients that are added."""

    base: Array
    offset: int
    terms: tuple[tuple[str, int], ...]


def _place(thread: ProcessorThread, address: MachineValue, size: int) -> _Place:
    if isinstance(address, Unknown):
        raise thread.out.wrong(address.reason)
    if address.base is None or address.base not in (STACK, MEMORY, RESULTS):
        raise thread.out.wrong("it accesses memory at an address that is not understood")
    if address.base != MEMORY and address.terms:
        raise thread.out.wrong(f"it accesses the {address.base.name} at an address that was computed of what was read")
    if address.base != STACK and size != WORD:
        raise thread.out.wrong(f"an access of {size} bytes, and locations have {WORD}")
    if address.base != STACK and address.low:
        raise thread.out.wrong("an address of which only the lowest 32 bits are known")
    return _Place(address.base, address.offset, address.terms)


def _address(thread: ProcessorThread, place: _Place) -> Operand:
    name = thread.compiled.names.locations.get(place.offset)
    if name is None or any(factor % WORD for _, factor in place.terms):
        raise thread.out.wrong(f"byte {place.offset} of the memory is no location of the test")
    if not place.terms:
        return Loc(name)
    if any(_try(thread, place.terms, read) for read in _TRIED):
        raise thread.out.wrong("an address that is another one for each value that is read")
    added = sum_terms(thread, 0, tuple((held, factor // WORD) for held, factor in place.terms))
    ((target, _),) = assign(thread, "add", Loc(name), added).terms
    return Reg(target)


def _try(thread: ProcessorThread, terms: tuple[tuple[str, int], ...], read: int) -> int:
    """Return what is added to an address where all that is read is one number. It is 0 for every number of a test, or
    the address is of no location.
    """
    values: dict[str, int] = {}

    def value(name: str) -> int:
        if name not in values:
            made = thread.out.assignment(name)
            given = [] if made is None else [operand for operand in made.operands if not isinstance(operand, Loc)]
            numbers = [operand if isinstance(operand, int) else value(operand.name) for operand in given]
            values[name] = read if made is None else compute(made.operation, *numbers)
        return values[name]

    return sum(factor * value(name) for name, factor in terms)


def load(
    thread: ProcessorThread, state: ProcessorState, address: MachineValue, size: int, mode: Mode = PLAIN
) -> MachineValue:
    """Return what a load of so many bytes gives: of a location of the test a new register; of the stack what was put
    there, or ``Unknown`` where that was nothing or fewer bytes.
    """
    place = _place(thread, address, size)
    if place.base == MEMORY:
        target = thread.out.new_register()
        thread.out.put(Load(target, _address(thread, place), mode))
        return register(target)
    cell = next((cell for cell in state.cells_of(place.base) if cell.offset == place.offset), None)
    value = None if cell is None else state.known[cell]
    if cell is None or not isinstance(value, Affine | Unknown):
        return Unknown("it reads of the stack what was not put there")
    if cell.size < size:
        return Unknown("it reads more bytes of the stack than were put there")
    return take_byte(thread, value) if size == 1 else lower(thread, value) if size == WORD else value


def store(
    thread: ProcessorThread,
    state: ProcessorState,
    address: MachineValue,
    size: int,
    value: MachineValue,
    mode: Mode = PLAIN,
) -> None:
    """Store a value of so many bytes: in a location of the test by an instruction, elsewhere as what is known there."""
    place = _place(thread, address, size)
    if place.base == MEMORY:
        thread.out.put(Store(_address(thread, place), give_operand(thread, value), mode))
        return
    if place.base == RESULTS:
        if place.offset not in thread.compiled.kept:
            raise thread.out.wrong(f"byte {place.offset} of the results is no register of this thread")
        thread.out.put(Store(Loc(thread.compiled.kept[place.offset]), give_operand(thread, value), mode))
    written = cell_of(place.base, place.offset, size)
    for cell in state.cells_of(place.base):
        if cell.meets(place.offset, size) and cell != written:
            del state.known[cell]
    state.known[written] = take_byte(thread, value) if size == 1 else value


def fence(thread: ProcessorThread, mode: Mode) -> None:
    """Append a fence of a mode to the residual program."""
    thread.out.put(Fence(mode))


def update(
    thread: ProcessorThread,
    operation: str,
    address: MachineValue,
    operands: tuple[MachineValue, ...],
    mode: Mode,
    wanted: bool = True,
) -> MachineValue:
    """Return what an atomic operation has read."""
    place = _place(thread, address, WORD)
    if place.base != MEMORY:
        raise thread.out.wrong(f"an atomic operation on the {place.base.name}")
    target = thread.out.new_register() if wanted else None
    given = tuple(give_operand(thread, value) for value in operands)
    thread.out.put(Rmw(operation, target, _address(thread, place), given, mode))
    return Unknown("nothing is read") if target is None else register(target)


def load_exclusive(thread: ProcessorThread, state: ProcessorState, address: MachineValue, mode: Mode) -> MachineValue:
    """Begin an exclusive pair, and return what its load reads."""
    place = _place(thread, address, WORD)
    if place.base != MEMORY:
        raise thread.out.wrong("it begins an exclusive pair within another one, or not of a location")
    operand = _address(thread, place)
    target = thread.out.new_register()
    thread.out.put(ExclusiveLoad(target, operand, mode))
    state.put(PAIR, address)
    return register(target)


def store_exclusive(
    thread: ProcessorThread,
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
    load = next(
        (left.instruction for left in thread.out.code[::-1] if isinstance(left.instruction, ExclusiveLoad)), None
    )
    if state.find(PAIR) != address or load is None:
        raise thread.out.wrong("an exclusive store without a load of the same address before it")
    state.forget(PAIR)
    if isinstance(value, Unknown):
        raise thread.out.wrong(value.reason)
    if value.base is not None:
        raise thread.out.wrong("an address or a register of the caller is used as a number")
    status = thread.out.new_register(STATUS)
    thread.out.bits.add(status)
    thread.out.put(ExclusiveStore.of(load.address, value, mode, status, once))
    return register(status)


def compare_exchange(
    thread: ProcessorThread, address: MachineValue, expected: MachineValue, value: MachineValue, mode: Mode
) -> tuple[MachineValue, Compared]:
    """Return what a compare-exchange has read, and the flags of its comparison. One in a loop may be one that is tried
    again until it succeeds.
    """
    if is_in_loop(thread) and isinstance(value, Affine) and value.base is None:
        place = _place(thread, address, WORD)
        if place.base == MEMORY:
            target, given = thread.out.new_register(), give_operand(thread, expected)
            thread.out.put(RetriedExchange.of(target, _address(thread, place), given, value, mode))
            return register(target), Compared(expected, register(target))
    read = update(thread, "cas", address, (expected, value), mode)
    return read, Compared(expected, read)


def control(thread: ProcessorThread, status: MachineValue) -> None:
    """Append a branch on whether an exclusive store has succeeded whose two ways are one: what comes after depends on
    it.
    """
    label, read = f"{CONTROL}{thread.out.new_register()}", give_operand(thread, status)
    thread.out.put(Branch(label, Comparison("eq", read, read)))
    thread.out.put(Label(label))


def keep_results(thread: ProcessorThread, state: ProcessorState) -> None:
    """Append moves to the registers that the condition asks for."""
    for byte in thread.compiled.kept:
        name, value = thread.compiled.names.results[byte].register, state.known.get(cell_of(RESULTS, byte, WORD))
        if not isinstance(value, Affine | Unknown):
            raise InputError(f"the function does not always store the register {name}")
        thread.out.put(Assign(name, "mov", (give_operand(thread, value),)))
