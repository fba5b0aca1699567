"""What functions with dots in their parameters do when a thread is followed (C11 7.16).

A ``va_list`` has 24 bytes: how far the arguments are read that are given in registers, of numbers and of floating-point
numbers; the address of the next one in memory; and the address of all in registers (``corpus.code.llvm.arguments``).
"""

from __future__ import annotations

from corpus.code import ir
from corpus.code.evaluation import evaluate, set_result
from corpus.code.llvm.arguments import REGISTERS
from corpus.code.llvm.cells import keep, unwritten
from corpus.code.llvm.computing import alignment_of
from corpus.code.llvm.memory import FORM, POINTER, checked_address, further, moved_bytes, stored
from corpus.code.memory import owns
from corpus.code.places import Cell
from corpus.code.table import BOTH, WRITES, Row
from corpus.code.thread import FollowedThread, Meaning, State
from corpus.code.values import ArrayAddress, Value
from corpus.litmus.orders import PLAIN


def give_argument(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``argument`` and its type: a value of so many bits, at a place among those behind dots; of a ``copy`` the address
    of what is copied, and its bytes.
    """
    area, place, given, number = ins.operands
    (form,) = ins.words
    assert isinstance(place, ir.Number) and isinstance(number, ir.Number)
    address = evaluate(thread, state, area)
    assert isinstance(address, ArrayAddress)
    array, where = address.array, further(address, place.value)
    size = number.value if form == "copy" else -(-number.value // 8)
    value = evaluate(thread, state, given, number.value if form != "copy" else 64)
    if not owns(thread, array):
        raise thread.out.wrong("a list of arguments that another thread has is not understood")
    if form == "copy":
        if not moved_bytes(thread, state, where, value, size):
            return False
    else:
        keep(thread, state, array, place.value, size, value)
    state.known[Cell(array.owner, f"{FORM}{array.name}", place.value, size)] = int(form[0] == "f")
    return True


def begin(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``va_start``: the list, the arguments behind dots, and the bytes of registers that those before them take."""
    target, given, numbers, reals = ins.operands
    area = evaluate(thread, state, given)
    if not isinstance(area, ArrayAddress):
        raise thread.out.wrong("what is behind the dots of a function that is called as one without is not understood")
    thread.creation.aligned[area.array] = 16
    parts: tuple[tuple[int, Value], ...] = (
        (4, evaluate(thread, state, numbers)),
        (4, evaluate(thread, state, reals)),
        (POINTER, further(area, REGISTERS)),
        (POINTER, area),
    )
    address = _list(thread, state, target)
    for size, value in parts:
        if address is None or not stored(thread, state, address, size, value, PLAIN):
            return False
        address = further(address, size)
    return True


def end(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``va_end``: behind it the list has no value."""
    target, number = ins.operands
    assert isinstance(number, ir.Number)
    address = _list(thread, state, target)
    if isinstance(address, ArrayAddress) and owns(thread, address.array):
        keep(thread, state, address.array, address.offset, number.value, unwritten(address.array, address.offset))
    return address is not None


def _list(thread: FollowedThread, state: State, operand: ir.Operand) -> Value | None:
    """Return the address of a list; None where the thread ends, as nothing is there."""
    assert isinstance(operand, ir.MemoryOperand)
    return checked_address(thread, state, evaluate(thread, state, operand.base), 24)


def masked(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``llvm.ptrmask``: an address with some of its bits, as the next one that is a multiple of 16."""
    target, base, mask = ins.operands
    address, bits = evaluate(thread, state, base), evaluate(thread, state, mask)
    free = (1 << 64) - bits if isinstance(bits, int) else 0
    if not isinstance(address, ArrayAddress) or free.bit_count() != 1 or alignment_of(thread, address.array) % free:
        raise thread.out.wrong("some bits of an address are not understood")
    set_result(thread, state, target, ArrayAddress(address.array, address.offset // free * free, address.near))
    return True


ROWS: tuple[Row[Meaning], ...] = (
    Row("@llvm.ptrmask", BOTH, "any*", masked, "*"),
    Row("argument", WRITES, "any*", give_argument, "*"),
    Row("va_start", WRITES, "any*", begin, "*"),
    Row("va_end", BOTH, "any*", end, "*"),
)
"""The instructions by their names."""
