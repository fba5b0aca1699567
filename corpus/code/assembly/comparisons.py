"""Compares values of a processor: what sets flags, and what branches and other instructions ask of them.

    cmp w8, #1     flags: v0 and 1       subs x8, x8, #2    flags: v0 and 2
    b.eq .L1       a branch on v0 = 1    cset w9, lo        v1 := v0 < 2, without a sign

The operands of a comparison are kept until a branch or another instruction asks.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping

from corpus.code.assembly.sums import (
    HALF,
    add,
    assign,
    compute,
    find_range,
    give_operand,
    is_bit,
    is_whole,
    subtract,
)
from corpus.code.assembly.thread import MachineValue, ProcessorState, ProcessorThread
from corpus.code.values import Affine, Compared, Unknown, number, register
from corpus.litmus.instructions import COMPARISONS, NEGATED, Comparison
from corpus.litmus.locations import Reg

NOTHING = Compared(Unknown("no comparison sets these flags"), Unknown("no comparison sets these flags"))

_OF_SIGN = {"lt": "ne", "ge": "eq"}
"""What a comparison of a number with 0 asks of the bit of its sign."""

SIGNED = {"ltu": "lt", "leu": "le", "gtu": "gt", "geu": "ge"}
"""The comparison of two numbers that are not negative, for each that is without a sign."""

_COMPARISONS: Mapping[str, Callable[[int, int], bool]] = {name: getattr(operator, name) for name in COMPARISONS}


def find_flags(state: ProcessorState, operation: str, key: str = "flags") -> Compared:
    """Return the flags that an operation asks, of a processor or of one of its fields of flags."""
    part = " carry" if operation in SIGNED else "" if operation in ("eq", "ne") else " order"
    found = state.find(f"{key}{part}")
    return found if isinstance(found, Compared) else NOTHING


def find_sign_flags(state: ProcessorState) -> Compared:
    """Return the flags of a comparison with 0, of which alone the flag of the sign is understood."""
    found = find_flags(state, "eq")
    unknown = Unknown("a sign of a difference is not understood")
    return found if found.right == number(0) else Compared(unknown, number(0))


def compare(
    state: ProcessorState,
    left: MachineValue,
    right: MachineValue,
    wide: bool = False,
    carry: bool = True,
    order: bool = True,
    key: str = "flags",
) -> None:
    """Set flags by a comparison. Without ``carry``, the comparisons without a sign tell something else; without
    ``order`` those with one do, as after a sum that may not fit.
    """
    flags = Compared(left, right, wide)
    state.put(key, flags)
    state.put(f"{key} carry", flags if carry else NOTHING)
    state.put(f"{key} order", flags if order else NOTHING)


def forget_flags(state: ProcessorState, reason: str, key: str = "flags") -> None:
    """Set flags of which nothing is known."""
    compare(state, Unknown(reason), Unknown(reason), key=key)


def decide(thread: ProcessorThread, operation: str, flags: Compared) -> MachineValue:
    """Return 1 or 0: whether a comparison holds. ``operation`` is one of litmus tests or of ``SIGNED``."""
    for value in (flags.left, flags.right):
        if isinstance(value, Unknown):
            return value
    if operation in _OF_SIGN and (bit := _find_sign_bit(thread, flags)) is not None:
        return decide(thread, _OF_SIGN[operation], Compared(bit, number(0)))
    if (known := _compare_constants(operation, flags)) is not None:
        return number(known)
    return compute(thread, _choose_operation(thread, operation, flags), flags.left, flags.right)


def _choose_operation(thread: ProcessorThread, operation: str, flags: Compared) -> str:
    """The operation of litmus tests that a comparison is: one of 32 bits, with or without a sign."""
    left, right = flags.left, flags.right
    if flags.wide and left != right:
        if not thread.compiled.numbers.signed and not thread.compiled.numbers.signless:
            raise thread.out.wrong("a test with negative numbers, and it compares 64 bits")
        if not (is_whole(thread, left) and is_whole(thread, right)):
            raise thread.out.wrong("a comparison of numbers of 64 bits")
    plain = SIGNED.get(operation, operation)
    ranges = [find_range(thread, value) for value in (left, right) if isinstance(value, Affine)]
    if operation in SIGNED and not all(lowest >= 0 and highest < HALF for lowest, highest in ranges):
        return f"setp.{plain}.u32"
    return plain


def _find_sign_bit(thread: ProcessorThread, flags: Compared) -> MachineValue | None:
    """The bit of what was read that has been moved to the sign of 64 bits, where a comparison is of such a one."""
    left = flags.left
    if not flags.wide or flags.right != number(0) or not isinstance(left, Affine) or left.low:
        return None
    if len(left.terms) == 1:
        ((name, factor),) = left.terms
        up = factor.bit_length() - 1
        if left.base is None and left.offset == 0 and factor == 1 << up and 32 <= up < 64:
            bit = 1 << (63 - up)
            return compute(thread, "and", register(name), number(bit))
    return None


def ask(thread: ProcessorThread, operation: str, flags: Compared) -> bool | Comparison:
    """Return whether a branch is taken, or what it asks where what was read decides."""
    left, right = flags.left, flags.right
    if operation in _OF_SIGN and (bit := _find_sign_bit(thread, flags)) is not None:
        return ask(thread, _OF_SIGN[operation], Compared(bit, number(0)))
    if isinstance(left, Affine) and isinstance(right, Affine):
        if (known := _compare_constants(operation, flags)) is not None:
            return known == 1
        meant = thread.out.assignment(left.terms[0][0]) if is_bit(thread, left) and left.terms else None
        if right.constant == 0 and operation in ("eq", "ne") and meant and meant.operation in COMPARISONS:
            held = meant.operation if operation == "ne" else NEGATED[meant.operation]
            return Comparison(held, *meant.operands)
    operation = _choose_operation(thread, operation, flags)
    operands = give_operand(thread, left), give_operand(thread, right)
    if operation in COMPARISONS:
        return Comparison(operation, *operands)
    ((holder, _),) = assign(thread, operation, *operands).terms
    return Comparison("ne", Reg(holder), 0)


def select(thread: ProcessorThread, condition: MachineValue, one: MachineValue, other: MachineValue) -> MachineValue:
    """Return one value where a condition (1 or 0) holds, and another where it does not."""
    if isinstance(condition, Unknown):
        return condition
    if condition.constant is not None:
        return one if condition.constant else other
    if one == number(1) and other == number(0):
        return condition
    for value in (one, other):
        if isinstance(value, Unknown):
            return value
        if value.base is not None:
            return Unknown("a choice between addresses is not understood")
    negated = subtract(thread, number(1), condition)
    return add(thread, compute(thread, "mul", condition, one), compute(thread, "mul", negated, other))


def _compare_constants(operation: str, flags: Compared) -> int | None:
    """Return whether a comparison of two constants holds, None where one is none."""
    if not isinstance(flags.left, Affine) or not isinstance(flags.right, Affine):
        return None
    left, right = flags.left.constant, flags.right.constant
    if left is None or right is None:
        return None
    bits = 1 << (64 if flags.wide else 32)
    one, other = left % bits, right % bits
    if operation not in SIGNED:
        one, other = (side - bits if side >= bits // 2 else side for side in (one, other))
    return int(_COMPARISONS[SIGNED.get(operation, operation)](one, other))
