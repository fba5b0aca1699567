"""Computes with values of a processor: sums of registers of the litmus test, whose lowest 32 bits are known.

    addl $1, %ecx          v1 + 1          leaves nothing in the code
    andl $2, %ecx          v2 := v1 and 2  a register of its own
    movslq %ecx, %rcx      v2              whose sign is known: it has two bits

What is not understood gives ``Unknown``, which says why where it is used.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial, reduce

from corpus.code.assembly.thread import MachineValue, ProcessorThread
from corpus.code.values import Affine, Unknown, number, register
from corpus.litmus import arithmetic
from corpus.litmus.arithmetic import wrap
from corpus.litmus.instructions import COMPARISONS, Assign
from corpus.litmus.locations import Operand, Reg

HALF = 1 << 31
"""The least number of 32 bits that is negative with a sign."""

_COMPUTED: Mapping[str, Callable[[int, int], int]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
}
"""The operations whose lowest 32 bits are those of any larger width."""


def assign(thread: ProcessorThread, operation: str, *operands: Operand) -> Affine:
    """Return a fresh register with the result of an operation."""
    target = thread.out.new_register()
    thread.out.put(Assign(target, operation, operands))
    is_logic = operation in ("and", "or", "xor") and all(map(partial(_bit, thread), operands))
    if operation in COMPARISONS or operation.startswith("setp.") or is_logic:
        thread.out.bits.add(target)
    return register(target)


def _bit(thread: ProcessorThread, operand: Operand) -> bool:
    return operand in (0, 1) or (isinstance(operand, Reg) and operand.name in thread.out.bits)


def give_operand(thread: ProcessorThread, value: MachineValue) -> Operand:
    """Return a number as an operand of an instruction. Raises ``InputError`` for what is none, or not known."""
    if isinstance(value, Unknown):
        raise thread.out.wrong(value.reason)
    if value.base is not None:
        raise thread.out.wrong("an address or a register of the caller is used as a number")
    return sum_terms(thread, value.offset, value.terms)


def sum_terms(thread: ProcessorThread, constant: int, terms: tuple[tuple[str, int], ...]) -> Operand:
    """Return the operand that holds ``constant + factor * register + ..``, computed where need be."""
    total: Operand = wrap(constant)
    for name, factor in terms:
        term: Operand = Reg(name)
        if wrap(factor) != 1:
            (single,) = assign(thread, "mul", term, wrap(factor)).terms
            term = Reg(single[0])
        if total == 0:
            total = term
        else:
            ((single_name, _),) = assign(thread, "add", total, term).terms
            total = Reg(single_name)
    return total


def add(thread: ProcessorThread, left: MachineValue, right: MachineValue) -> MachineValue:
    """Return a sum modulo 2^64, computed by the residual program where it is not affine. ``Unknown`` where an operand
    is, or where an address is in a sum that is not affine.
    """
    if isinstance(left, Unknown):
        return left
    if isinstance(right, Unknown):
        return right
    if (total := left.plus(right)) is not None:
        return total
    if left.base is not None or right.base is not None:
        return Unknown("a sum of addresses is not understood")
    return replace(assign(thread, "add", give_operand(thread, left), give_operand(thread, right)), low=True)


def subtract(thread: ProcessorThread, left: MachineValue, right: MachineValue) -> MachineValue:
    """Return a difference modulo 2^64, computed by the residual program where it is not affine. ``Unknown`` where an
    operand is, or where an address is subtracted.
    """
    if isinstance(right, Unknown):
        return right
    negative = right.times(-1)
    if negative is None:
        return Unknown("an address is subtracted")
    if isinstance(left, Affine) and left.plus(negative) is None:
        return compute(thread, "sub", left, right)
    return add(thread, left, negative)


def calculate(thread: ProcessorThread, operation: str, left: MachineValue, right: MachineValue) -> MachineValue:
    """Return the result of an operation on two numbers, a sum or difference as such."""
    if operation == "add":
        return add(thread, left, right)
    return subtract(thread, left, right) if operation == "sub" else compute(thread, operation, left, right)


def compute(thread: ProcessorThread, operation: str, left: MachineValue, right: MachineValue) -> MachineValue:
    """Return the result of an operation of litmus tests on two numbers."""
    for value in (left, right):
        if isinstance(value, Unknown):
            return value
        if value.base is not None:
            return Unknown(f"'{operation}' of an address is not understood")
    assert isinstance(left, Affine) and isinstance(right, Affine)
    one, other = left.constant, right.constant
    if one is not None and other is not None and operation in _COMPUTED:
        return number(_COMPUTED[operation](one, other))
    if any(known is not None and not -HALF <= known < 2 * HALF for known in (one, other)):
        return Unknown(f"'{operation}' of more than 32 bits is not understood")
    if one is not None and other is not None:
        return number(arithmetic.compute(operation, wrap(one), wrap(other)))
    if operation == "and" and other is not None and _keeps(thread, left, other):
        return left if other == -1 else lower(thread, left)
    if operation in ("or", "xor", "add", "sub") and other == 0:
        return left
    if operation in ("or", "xor", "add") and one == 0:
        return right
    if operation in ("or", "xor"):
        for constant, value in ((one, right), (other, left)):
            if constant is not None and constant & _find_possible_bits(thread, value) == 0:
                return value.further(constant)  # no bit is in both
    masked = operation == "and" and any(known is not None and 0 <= known < HALF for known in (one, other))
    kept = all(
        map(partial(is_whole, thread) if thread.compiled.numbers.signed else partial(is_word, thread), (left, right))
    )
    low = operation in ("mul", "sub") or (operation in _COMPUTED and not masked and not kept)
    return replace(assign(thread, operation, give_operand(thread, left), give_operand(thread, right)), low=low)


def _find_possible_bits(thread: ProcessorThread, value: Affine) -> int:
    """The bits that a number may have, as far as a mask before says it."""
    if value.offset == 0 and len(value.terms) == 1 and value.terms[0][1] == 1:
        made = thread.out.assignment(value.terms[0][0])
        if made is not None and made.operation == "and":
            masks = [mask & 0xFFFFFFFF for mask in made.operands if isinstance(mask, int)]
            held = [operand for operand in made.operands if isinstance(operand, Reg)]
            inner = [_find_possible_bits(thread, register(operand.name)) for operand in held]
            return reduce(operator.and_, [*masks, *inner], 0xFFFFFFFF)
        if made is not None and made.operation == "shr.u32" and isinstance(made.operands[1], int):
            return 0xFFFFFFFF >> made.operands[1] % 32
    return 1 if is_bit(thread, value) else 0xFFFFFFFF


def find_range(thread: ProcessorThread, value: Affine) -> tuple[int, int]:
    """Return the least and the greatest number that a sum may be, of registers of 32 bits with their sign."""
    lowest = highest = value.offset
    for name, factor in value.terms:
        possible = _find_possible_bits(thread, register(name))
        whole = possible >= HALF and not (thread.compiled.numbers.signless and thread.out.is_read(name))
        ends = factor * (-HALF if whole else 0), factor * min(possible, HALF - 1)
        lowest, highest = lowest + min(ends), highest + max(ends)
    return lowest, highest


def is_whole(thread: ProcessorThread, value: MachineValue) -> bool:
    """Decide whether the 64 bits of a value are a number of 32 bits with its sign."""
    if not isinstance(value, Affine) or value.base is not None or value.low:
        return False
    lowest, highest = find_range(thread, value)
    fits = (-HALF if thread.compiled.numbers.signed or not value.terms else 0) <= lowest and highest < HALF
    single = value.offset == 0 and [factor for _, factor in value.terms] == [1]
    return fits or (single and thread.compiled.numbers.signed)


def is_word(thread: ProcessorThread, value: Affine) -> bool:
    """Decide whether the 64 bits of a value are some 32 with zeros above, where that is how registers keep numbers."""
    single = value.offset == 0 and [factor for _, factor in value.terms] == [1]
    lowest, highest = find_range(thread, value)
    most = HALF if value.terms else 2 * HALF
    return value.base is None and not value.low and (single or (lowest >= 0 and highest < most))


def take_word(thread: ProcessorThread, value: Affine) -> Affine:
    """Return the lowest 32 bits of a number with zeros above, in a register of their own where need be."""
    found = extend(thread, value, False)
    if isinstance(found, Affine) and found.low:
        operand = give_operand(thread, value)
        assert isinstance(operand, Reg)
        return register(operand.name)
    assert isinstance(found, Affine)
    return found


def lower(thread: ProcessorThread, value: MachineValue) -> MachineValue:
    """Return the lowest 32 bits of a value, extended as registers of 64 bits keep them here."""
    return extend(thread, value, thread.compiled.numbers.signed)


def extend(thread: ProcessorThread, value: MachineValue, signed: bool) -> MachineValue:
    """Return the lowest 32 bits of a value, with their sign or with zeros above."""
    if isinstance(value, Unknown):
        return value
    if value.base is not None:
        return Unknown("half of an address is not understood")
    if value.constant is not None:
        low = wrap(value.constant)
        return number(low if signed else low % (2 * HALF))
    lowest, highest = find_range(thread, value)
    if (-HALF if signed else 0) <= lowest and highest < HALF:
        return replace(value, low=False)
    if thread.compiled.numbers.signed and signed and (value.offset or [factor for _, factor in value.terms] != [1]):
        found = give_operand(thread, value)
        assert isinstance(found, Reg)
        return register(found.name)
    single = value.offset == 0 and [factor for _, factor in value.terms] == [1]
    return replace(value, low=not (single and signed == thread.compiled.numbers.signed))


def _keeps(thread: ProcessorThread, value: Affine, mask: int) -> bool:
    """Whether a mask keeps all bits that a number may have."""
    return wrap(mask) == -1 or (mask & 1 == 1 and is_bit(thread, value))


def is_bit(thread: ProcessorThread, value: MachineValue) -> bool:
    """Decide whether a value is 0 or 1."""
    if not isinstance(value, Affine) or value.base is not None:
        return False
    if not value.terms:
        return value.offset in (0, 1)
    return (
        value.offset == 0 and len(value.terms) == 1 and value.terms[0][1] == 1 and value.terms[0][0] in thread.out.bits
    )


def shift(thread: ProcessorThread, value: MachineValue, left: int, wide: bool = False) -> MachineValue:
    """Return a number moved by so many bits to the left, or to the right where they are less than 0; ``wide``: all
    64 bits of it.
    """
    if isinstance(value, Unknown):
        return value
    if left >= 0:
        return value.times(1 << left) or Unknown("a shifted address is not understood")
    if value.constant is not None:
        return number((value.constant & (1 << (64 if wide else 32)) - 1) >> -left)
    if left == 0:
        return value
    if value.base is not None:
        return Unknown("a shifted address is not understood")
    if not wide:
        return compute(thread, "shr.u32", value, number(-left))
    if not value.low and find_range(thread, value)[0] >= 0 and find_range(thread, value)[1] < HALF:
        return compute(thread, "shr.u32", value, number(-left))
    (name, factor), *others = value.terms
    if value.offset == 0 and not others and not value.low:
        up = factor.bit_length() - 1
        if factor == 1 << up and 32 <= up < 64:
            # What is left of the number are its lowest bits.
            kept = register(name)
            rest = kept if up == 32 else compute(thread, "and", kept, number((1 << (64 - up)) - 1))
            return shift(thread, rest, up + left)
    return Unknown("a shift of 64 bits is not understood")


def take_byte(thread: ProcessorThread, value: MachineValue) -> MachineValue:
    """Return the lowest byte of a value that is known to be no larger."""
    if isinstance(value, Unknown) or is_bit(thread, value):
        return value
    if value.constant is not None:
        return number(value.constant & 0xFF)
    return Unknown("one byte of a larger number is not understood")
