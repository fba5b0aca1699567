"""Constant expressions of PTX: integers of 64 bits, signed or unsigned, and doubles (PTX ISA 9.1, 4.5).

Operators are those of C, and every result is defined: ``-1 >> 60`` is -1, ``-1U >> 60`` is 15, ``-7 % 4`` is 1.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from typing import NamedTuple

_BITS = 64


class ConstantValue(NamedTuple):
    """A constant: an integer, which is unsigned where it says so, or a double-precision number."""

    value: int | float
    unsigned: bool = False


LEVELS: Mapping[str, int] = {
    sign: level
    for level, signs in enumerate(
        ("?", "||", "&&", "|", "^", "&", "== !=", "< > <= >=", "<< >>", "+ -", "* / %"),
    )
    for sign in signs.split()
}
"""How strongly each binary operator binds, and the conditional one (Table 4)."""

SUM = LEVELS["+"]

_COMPARED: Mapping[str, Callable[[float, float], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
}
_COMPUTED: Mapping[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "/": lambda one, other: abs(one) // abs(other) * (1 if (one < 0) == (other < 0) else -1),
}


def integer(value: int, unsigned: bool) -> ConstantValue:
    """Return the constant that has the lowest 64 bits of a number."""
    value &= (1 << _BITS) - 1
    return ConstantValue(value if unsigned or not value >> _BITS - 1 else value - (1 << _BITS), unsigned)


def literal(word: str) -> ConstantValue:
    """Return an integer literal: decimal, octal, hexadecimal or binary. Raises ``ValueError`` for more than 64 bits."""
    digits = word.rstrip("U")
    octal = len(digits) > 1 and digits[0] == "0" and digits[1:].isdigit()
    value = int(digits, 8 if octal else 0)
    if value >> _BITS:
        raise ValueError
    return ConstantValue(value, word[-1] == "U" or bool(value >> _BITS - 1))


def cast(one: ConstantValue, unsigned: bool) -> ConstantValue | None:
    """Return an integer as a signed or unsigned one; None for a number that is none."""
    return integer(one.value, unsigned) if isinstance(one.value, int) else None


def applied(sign: str, one: ConstantValue) -> ConstantValue | None:
    """Return what a unary operator makes of a constant; None where it does not apply."""
    if sign == "+":
        return one
    if isinstance(one.value, float):
        return ConstantValue(-one.value) if sign == "-" else None
    if sign == "!":
        return ConstantValue(int(not one.value))
    return integer(-one.value, one.unsigned) if sign == "-" else integer(~one.value, True)


def combined(sign: str, one: ConstantValue, other: ConstantValue) -> ConstantValue | None:
    """Return what a binary operator makes of two constants; None where it does not apply, as in a division by 0."""
    left, right = one.value, other.value
    if isinstance(left, float) and isinstance(right, float):
        if sign in _COMPARED:
            return ConstantValue(int(_COMPARED[sign](left, right)))
        return ConstantValue(_of_doubles(sign, left, right)) if sign in "+-*/" else None
    if isinstance(left, float) or isinstance(right, float) or (sign in "/%" and not right):
        return None
    if sign in ("&&", "||"):
        return ConstantValue(int(bool(left and right) if sign == "&&" else bool(left or right)))
    if sign in ("<<", ">>"):
        count = min(integer(right, True).value, _BITS)
        assert isinstance(count, int)
        return integer(left << count if sign == "<<" else left >> count, one.unsigned)
    if sign == "%":
        return integer(left % (1 << _BITS) % (right % (1 << _BITS)), False)
    unsigned = one.unsigned or other.unsigned
    if unsigned:
        left, right = left % (1 << _BITS), right % (1 << _BITS)
    if sign in _COMPARED:
        return ConstantValue(int(_COMPARED[sign](left, right)))
    return integer(_COMPUTED[sign](left, right), unsigned)


def chosen(condition: ConstantValue, one: ConstantValue, other: ConstantValue) -> ConstantValue | None:
    """Return what the conditional operator chooses; None where its operands do not fit each other."""
    if isinstance(condition.value, float) or isinstance(one.value, float) is not isinstance(other.value, float):
        return None
    found = one if condition.value else other
    return found if isinstance(found.value, float) else integer(found.value, one.unsigned or other.unsigned)


def _of_doubles(sign: str, left: float, right: float) -> float:
    if sign == "/" and not right:
        return math.nan if not left or math.isnan(left) else math.copysign(math.inf, left) * math.copysign(1.0, right)
    return (
        left + right if sign == "+" else left - right if sign == "-" else left * right if sign == "*" else left / right
    )
