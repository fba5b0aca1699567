"""Literal numbers of SPIR-V: the types that give their width, their words, and how text writes them (2.2.1).

A float in text is decimal or hexadecimal; ``0x1.8p+128`` of 32 bits is the NaN whose fraction is ``.8``: an exponent
one above the largest is that of infinities and NaNs. Decimal floats are rounded to nearest, ties to even.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from corpus.code.spirv.module import Enumerant, SpirvFloat, SpirvInstruction, SpirvInteger

MOST_BITS = 4096
"""The width that a number may have."""


class NumberType(NamedTuple):
    """A type of numbers: ``OpTypeInt`` or ``OpTypeFloat``."""

    width: int
    float: bool = False
    signed: bool = False
    encoding: str = ""

    def __str__(self) -> str:
        return f"{'a float' if self.float else 'an integer'} of {self.width} bits"

    @property
    def words(self) -> int:
        """Return how many words of 32 bits a literal of a type has."""
        return self.width + 31 >> 5


WORD = NumberType(32)

_FORMATS = {
    (16, ""): (5, 10),
    (32, ""): (8, 23),
    (64, ""): (11, 52),
    (16, "BFloat16KHR"): (8, 7),
    (8, "Float8E4M3EXT"): (4, 3),
    (8, "Float8E5M2EXT"): (5, 2),
}
"""Bits of the exponent and of the fraction, by width and encoding."""

_INTEGER = re.compile(r"-?(?:0[xX][0-9a-fA-F]+|[0-9]+)")
_DECIMAL = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_HEXADECIMAL = re.compile(r"([-+]?)0[xX]([0-9a-fA-F]*)\.?([0-9a-fA-F]*)[pP]([-+]?[0-9]{1,6})")

_LONGEST = 1000
"""Characters that a number may have, lest its value takes long to compute."""


def number_type(instruction: SpirvInstruction) -> NumberType | None:
    """Return the type of numbers that an instruction declares; None where it declares another, or none of a width from
    1 to ``MOST_BITS``.
    """
    match instruction.operands:
        case (SpirvInteger(width), SpirvInteger(signed)) if instruction.name == "OpTypeInt" and 0 < width <= MOST_BITS:
            return NumberType(width, signed=signed == 1)
        case (SpirvInteger(width), *rest) if instruction.name == "OpTypeFloat" and 0 < width <= MOST_BITS:
            encoding = rest[0].name if rest and isinstance(rest[0], Enumerant) else ""
            return NumberType(width, True, encoding=encoding)
    return None


def of_words(words: Sequence[int], type: NumberType) -> SpirvInteger | SpirvFloat:
    """Return the literal of a type that words of a binary are, the low-order word first."""
    bits = sum(word << 32 * place for place, word in enumerate(words)) & (1 << type.width) - 1
    if type.float:
        return SpirvFloat(bits, type.width, type.encoding)
    return SpirvInteger(bits - (bits >> type.width - 1 << type.width) if type.signed else bits, type.width)


def of_text(text: str, type: NumberType) -> SpirvInteger | SpirvFloat | None:
    """Return the literal of a type that a word of a text is; None where it is none, or does not fit."""
    if len(text) > _LONGEST:
        return None
    if type.float:
        bits = _float_bits(text, type)
        return None if bits is None else SpirvFloat(bits, type.width, type.encoding)
    value = integer(text)
    if value is None or not -1 << type.width - 1 <= value < 1 << type.width:
        return None
    return of_words([value & (1 << type.width) - 1], type)


def integer(text: str) -> int | None:
    """Return the integer that a word is: decimal, hexadecimal, or octal behind a zero; None where it is none."""
    if len(text) > _LONGEST or not _INTEGER.fullmatch(text):
        return None
    digits = text.lstrip("-")
    octal = len(digits) > 1 and digits.isdigit() and digits[0] == "0"
    if octal and set(digits) & set("89"):
        return None
    return int(text, 8 if octal else 0)


def _float_bits(text: str, type: NumberType) -> int | None:
    if (type.width, type.encoding) not in _FORMATS:
        return None
    negative = text.startswith("-")
    if match := _HEXADECIMAL.fullmatch(text):
        digits, power = match[2] + match[3], int(match[4]) - 4 * len(match[3])
        if not digits:
            return None
        mantissa = int(digits, 16)
    elif _DECIMAL.fullmatch(text):
        value = float(text)
        if abs(value) == float("inf"):
            return None
        exact = abs(Fraction(text)) if value else Fraction(0)  # so that its exponent is small
        bits = _FORMATS[type.width, type.encoding][1] + 2
        power = _magnitude(exact) - bits
        scaled = exact / Fraction(2) ** power
        mantissa = 2 * (scaled.numerator // scaled.denominator) + (scaled.denominator != 1)  # the last bit is sticky
        power -= 1
    else:
        return None
    special = "x" in text.lower() or type.encoding == "Float8E4M3EXT"
    found = _rounded(mantissa, power, *_FORMATS[type.width, type.encoding], special)
    return None if found is None else found | negative << type.width - 1


def _magnitude(value: Fraction) -> int:
    """Return about the binary logarithm of a fraction that is not negative."""
    return value.numerator.bit_length() - value.denominator.bit_length()


def _rounded(mantissa: int, power: int, exponent_bits: int, fraction_bits: int, special: bool) -> int | None:
    """Return the bits of ``mantissa * 2**power``, without a sign; None where the exponent is too large. It may be that
    of infinities where the number may be ``special``.
    """
    if not mantissa:
        return 0
    bias = (1 << exponent_bits - 1) - 1
    exponent = max(mantissa.bit_length() - 1 + power, 1 - bias)  # subnormal numbers have the least
    shift = power - exponent + fraction_bits
    if shift < 0:
        if -shift > mantissa.bit_length() + 1:
            return 0
        rest, half = mantissa & (1 << -shift) - 1, 1 << -shift - 1
        mantissa >>= -shift
        mantissa += rest > half or (rest == half and mantissa & 1)
    else:
        mantissa <<= shift
    # A carry of the fraction goes into the exponent, and a subnormal number has no leading one.
    bits = (exponent + bias - 1 << fraction_bits) + mantissa
    most = (1 << exponent_bits) - 1 + special << fraction_bits
    return bits if bits < most else None
