"""The values of operands while a thread of machine code is followed, and the arithmetic of words.

A register has 32 bits and a predicate one; pairs of registers have the halves of addresses, the upper of which is taken
to be right. Bank 0 of constant memory holds the parameters of the kernel, which the launch gives as numbers, and bank 3
the marks of accesses, which are zeros (``backends.cuda.memory``).

What nothing is known of is ``UNKNOWN``, and no register is known to hold it. A number that is added to what a register
of the test holds stays beside it: with 0x100 in R4 and what a load has read in R2, ``IADD3 R6, R2, R4, 0x8`` leaves
``R2 + 0x108`` in R6, and no instruction, but for a move.
"""

from __future__ import annotations

from collections.abc import Sequence

from corpus.code import ir
from corpus.code.arithmetic import computed, residual_operand
from corpus.code.sass.launch import ALL, WORD, CompiledLaunch
from corpus.code.sass.operands import CONSTANTS, is_predicate, next_register
from corpus.code.sass.text import MARKS
from corpus.code.thread import FollowedThread, State
from corpus.code.values import Affine, Symbol, Unknown, Value
from corpus.litmus.locations import Operand, Reg
from corpus.litmus.ptx_arithmetic import signed

UNKNOWN = Unknown("what is not understood")
"""A value of which nothing is known."""


def launch_of(thread: FollowedThread) -> CompiledLaunch:
    """Return the launch of a compiled test."""
    assert isinstance(thread.launch, CompiledLaunch)
    return thread.launch


def capability_of(thread: FollowedThread) -> int:
    """Return the compute capability that the code is for: 90 of ``sm_90``."""
    return int(thread.module.target.removeprefix("sm_"))


def value_of(thread: FollowedThread, state: State, operand: ir.Operand) -> Value:
    """Return the value of an operand: of 32 bits, or 0 or 1 of a predicate."""
    match operand:
        case ir.Register(name):
            return CONSTANTS[name] if name in CONSTANTS else state.known.get(state.home(name), UNKNOWN)
        case ir.Number(number):
            return number & ALL
        case ir.Negated(inner):
            width = "pred" if is_predicate(inner) else "b32"
            every = 1 if is_predicate(inner) else ALL
            return calculate(thread, f"xor.{width}", value_of(thread, state, inner), every)
        case ir.Sum(terms):
            return add(thread, [_scale(thread, value_of(thread, state, term), factor) for term, factor in terms])
        case ir.MemoryOperand():
            return read_constants(thread, state, operand, 1)[0]
    return UNKNOWN


def _scale(thread: FollowedThread, value: Value, factor: int) -> Value:
    if factor < 0:
        value = -value & ALL if isinstance(value, int) else calculate(thread, "sub.s32", 0, value)
    return multiply(thread, value, abs(factor))


def pair_of(thread: FollowedThread, state: State, operand: ir.Operand) -> tuple[Value, Value]:
    """Return both halves of an operand of 64 bits."""
    if isinstance(operand, ir.MemoryOperand):
        low, high = read_constants(thread, state, operand, 2)
        return low, high
    low = value_of(thread, state, operand)
    upper = next_register(operand)
    return low, 0 if upper == operand else value_of(thread, state, upper)


def read_constants(thread: FollowedThread, state: State, operand: ir.MemoryOperand, words: int) -> list[Value]:
    """Return so many words of constant memory from one on."""
    bank: ir.Operand = operand.base
    index = 0
    if isinstance(bank, ir.Sum):
        (bank, _), (register, _) = bank.terms
        held = value_of(thread, state, register)
        if not isinstance(held, int):
            return [UNKNOWN] * words
        index = held
    first = (index + operand.offset) & ALL
    if bank == ir.SymbolRef(f"c[{MARKS}]"):
        return [0] * words
    if bank != ir.SymbolRef("c[0]"):
        return [UNKNOWN] * words
    launch, capability = launch_of(thread), capability_of(thread)
    found = [launch.constant(first + WORD * step, capability) for step in range(words)]
    return [UNKNOWN if word is None else word for word in found]


def address_of(thread: FollowedThread, state: State, operand: ir.Operand) -> Value:
    """Return the low half of the address that an operand in brackets is."""
    assert isinstance(operand, ir.MemoryOperand)
    return add(thread, [value_of(thread, state, operand.base), operand.offset])


def give_operand(thread: FollowedThread, value: Value) -> Operand:
    """Return a value as an operand of the test. Raises ``NotUnderstoodError`` where nothing is known of it."""
    kept = hold(thread, value)
    if not isinstance(kept, int | Symbol):
        raise thread.out.wrong("its value is not understood")
    return residual_operand(kept, 32)


# arithmetic of words


def calculate(thread: FollowedThread, opcode: str, *values: Value) -> Value:
    """Return the result of an instruction of PTX; nothing is known of it where nothing is of an operand."""
    if any(isinstance(value, Unknown) for value in values):
        return UNKNOWN
    return computed(thread, opcode, [hold(thread, value) for value in values])


def hold(thread: FollowedThread, value: Value) -> Value:
    """Return a sum as a register of the residual program that holds it."""
    match value:
        case Affine(None, ((register, 1),), offset):
            return Symbol(thread.out.temporary("add", Reg(register), signed(offset, 32)), 32)
    return value


def add(thread: FollowedThread, values: Sequence[Value]) -> Value:
    """Return a sum: of a register of the residual program and a number it is left as it is."""
    number, found = 0, ""
    for value in values:
        match value:
            case int():
                number += value
                continue
            case Symbol(register):
                offset = 0
            case Affine(None, ((register, 1),), offset):
                pass
            case _:
                return UNKNOWN
        number += offset
        found = thread.out.temporary("add", Reg(found), Reg(register)) if found else register
    number &= ALL
    if not found:
        return number
    return Affine(None, ((found, 1),), number) if number else Symbol(found, 32)


def multiply(thread: FollowedThread, one: Value, other: Value) -> Value:
    """Return the low half of a product; one with 0 is 0, whatever the other factor is."""
    for number, value in ((one, other), (other, one)):
        if number == 0:
            return 0
        if number == 1:
            return value
    return calculate(thread, "mul.lo.s32", one, other)


def combine(thread: FollowedThread, operation: str, one: Value, other: Value) -> Value:
    """Return two predicates as one, by ``and``, ``or`` or ``xor``; one may decide what the result is."""
    if operation == "and" and 0 in (one, other):
        return 0
    if operation == "or" and 1 in (one, other):
        return 1
    return calculate(thread, f"{operation}.pred", one, other)
