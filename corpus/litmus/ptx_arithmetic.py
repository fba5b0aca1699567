"""What the arithmetic instructions of PTX compute, as a table of functions on bits (PTX ISA 9.1, 9.7.1 to 9.7.7).

A value is the bits of a register as a number from 0 on: ``-1`` in 32 bits is ``0xFFFFFFFF``. ``COMPUTED`` has a row for
each instruction: how many operands it takes, and a function of its words and of these operands. Example:
``mul.wide.s32`` of ``0xFFFFFFFF`` and 4 is ``0xFFFFFFFFFFFFFFFC``.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from corpus.litmus.instructions import COMPARISONS

WIDTHS = {
    **{f"{kind}{bits}": bits for kind in "bsuf" for bits in (8, 16, 32, 64, 128)},
    "f16x2": 32,
    "bf16": 16,
    "bf16x2": 32,
    "e4m3x2": 16,
    "e5m2x2": 16,
    "tf32": 32,
    "pred": 1,
    "s16x2": 32,
    "u16x2": 32,
    "u8x4": 32,
    "s8x4": 32,
    "f32x2": 64,
}
"""The bits of each type (5.2.1)."""

Words = Sequence[str]


def signed(bits: int, width: int) -> int:
    """Return the number that bits are in two's complement."""
    bits &= (1 << width) - 1
    return bits - (1 << width) if bits >> width - 1 else bits


def type_of(words: Words) -> str:
    """Return the last type among the words of an instruction: ``s32`` of ``cvt.u64.s32``."""
    return next((word for word in reversed(words) if word in WIDTHS), "b32")


def result_width(name: str, words: Words) -> int:
    """Return the bits of the result of an instruction."""
    types = [word for word in words if word in WIDTHS]
    width = WIDTHS[types[0]] if types else 32
    if name in ("mul", "mad") and "wide" in words:
        return 2 * width
    if name in ("popc", "clz", "bfind"):
        return 32
    return 1 if name == "setp" else width


class Computed(NamedTuple):
    """An instruction that computes: its number of operands, and its result from its words and their bits."""

    operands: int
    result: Callable[[Words, Sequence[int]], int]


def _number(bits: int, words: Words) -> int:
    kind = type_of(words)
    return signed(bits, WIDTHS[kind]) if kind[0] == "s" else bits & (1 << WIDTHS[kind]) - 1


class _Format(NamedTuple):
    """A format of IEEE 754: the bits of its exponent and of its fraction, and its NaN."""

    exponent: int
    fraction: int
    nan: int

    @property
    def least(self) -> int:
        """The exponent of the least normal number."""
        return 2 - (1 << self.exponent - 1)

    @property
    def infinity(self) -> int:
        """The bits of infinity."""
        return ((1 << self.exponent) - 1) << self.fraction


_FORMATS: Mapping[str, _Format] = {
    "f16": _Format(5, 10, 0x7FFF),
    "bf16": _Format(8, 7, 0x7FFF),
    "f32": _Format(8, 23, 0x7FFFFFFF),
    "f64": _Format(11, 52, 0x7FF8000000000000),
}
_INTEGERS = frozenset(f"{sign}{width}" for sign in "bsu" for width in (8, 16, 32, 64)) | {"pred"}
_UNTOLD = frozenset(("approx", "full", "relu", "rna", "rs", "satfinite", "abs", "scaled", "pack"))
_REALS = frozenset(("mov", "cvt", "add", "sub", "mul", "mad", "fma", "div", "sqrt", "min", "max", "abs", "neg"))


def computable(name: str, words: Words, operands: int) -> bool:
    """Return whether the result of an instruction of ``COMPUTED`` is one that its words and operands say exactly."""
    types = [word for word in words if word in WIDTHS]
    real = any(word in _FORMATS for word in types)
    if name == "cvt" and len(types) != 2:
        return False
    if name in ("min", "max") and operands > 2:
        return False
    plain = not real or name in _REALS or name in ("selp", "slct", "setp")
    return plain and all(word in _FORMATS or word in _INTEGERS for word in types) and _UNTOLD.isdisjoint(words)


def _is_float(words: Words) -> bool:
    return type_of(words) in _FORMATS


def real_number(bits: int, kind: str, words: Words = ()) -> float:
    """Return the number that bits are in a format; with ``ftz`` a subnormal one is 0."""
    form = _FORMATS[kind]
    exponent, fraction = bits >> form.fraction & (1 << form.exponent) - 1, bits & (1 << form.fraction) - 1
    sign = -1.0 if bits >> form.exponent + form.fraction & 1 else 1.0
    if exponent == (1 << form.exponent) - 1:
        return math.nan if fraction else sign * math.inf
    if not exponent and "ftz" in words and kind == "f32":
        fraction = 0
    whole = fraction | (1 << form.fraction if exponent else 0)
    return sign * math.ldexp(whole, max(exponent, 1) - 1 + form.least - form.fraction)


def _bits_of(value: float | Fraction, kind: str, words: Words = ()) -> int:
    """Return the bits of a number in a format, rounded as the words say: to nearest even unless otherwise."""
    form = _FORMATS[kind]
    top = 1 << form.exponent + form.fraction
    if "sat" in words:
        value = 0.0 if value != value else min(max(value, 0), 1) or 0.0
    if isinstance(value, float):
        negative = math.copysign(1.0, value) < 0
        if math.isnan(value):
            return form.nan
        if math.isinf(value) or not value:
            return top * negative + (form.infinity if value else 0)
    negative, exact = value < 0, abs(Fraction(value))
    exponent = max(exact.numerator.bit_length() - exact.denominator.bit_length() - 1, form.least)
    while exact >= Fraction(2) ** (exponent + 1):
        exponent += 1
    scaled = exact / Fraction(2) ** (exponent - form.fraction)
    mode = next((word for word in words if word in _AWAY), "rn")
    up = round(scaled) if mode == "rn" else math.ceil(scaled) if _AWAY[mode](negative) else math.floor(scaled)
    bits = ((exponent - form.least) << form.fraction) + up
    if bits >= form.infinity:
        bits = form.infinity if mode == "rn" or _AWAY[mode](negative) else form.infinity - 1
    if "ftz" in words and kind == "f32" and exact < Fraction(2) ** form.least:
        bits = 0
    return top * negative + bits


_AWAY: Mapping[str, Callable[[bool], bool]] = {
    "rn": lambda negative: False,
    "rz": lambda negative: False,
    "rm": lambda negative: negative,
    "rp": lambda negative: not negative,
}
"""The modes of rounding, and whether each rounds a number away from 0."""


def _binary(
    integers: Callable[[int, int], int], reals: Callable[[float, float, Words], float | Fraction] | None = None
) -> Computed:
    def result(words: Words, values: Sequence[int]) -> int:
        if reals is not None and _is_float(words):
            kind = type_of(words)
            return _bits_of(
                reals(real_number(values[0], kind, words), real_number(values[1], kind, words), words), kind, words
            )
        found = integers(_number(values[0], words), _number(values[1], words))
        return _saturated(found, type_of(words)) if "sat" in words else found

    return Computed(2, result)


def _saturated(number: int, kind: str) -> int:
    width = WIDTHS[kind]
    least, most = (-(1 << width - 1), (1 << width - 1) - 1) if kind[0] == "s" else (0, (1 << width) - 1)
    return max(least, min(most, number))


def _sum(one: float, other: float, words: Words) -> float | Fraction:
    if not (math.isfinite(one) and math.isfinite(other)):
        return one + other
    return _signed_zero(Fraction(one) + Fraction(other), one, other, words)


def _signed_zero(exact: Fraction, one: float, other: float, words: Words) -> float | Fraction:
    """Return a sum, whose zero has the sign of both parts, or the one that rounding gives."""
    if exact:
        return exact
    signs = {math.copysign(1.0, one), math.copysign(1.0, other)}
    return math.copysign(0.0, signs.pop() if len(signs) == 1 else -1.0 if "rm" in words else 1.0)


def _times(one: float, other: float) -> float | Fraction:
    if not (math.isfinite(one) and math.isfinite(other)) or not (one and other):
        return one * other
    return Fraction(one) * Fraction(other)


def _fused(one: float, other: float, more: float, words: Words) -> float | Fraction:
    product = _times(one, other)
    if isinstance(product, float) and not math.isfinite(product):
        return product + more
    if not math.isfinite(more):
        return more
    sign = math.copysign(1.0, one) * math.copysign(1.0, other)
    return _signed_zero(Fraction(product) + Fraction(more), math.copysign(0.0, sign), more, words)


def _extreme(one: float, other: float, words: Words, pick: Callable[..., float]) -> float:
    """Return the lesser or greater of two numbers: -0 is less than 0, and a number is taken before NaN."""
    if math.isnan(one) or math.isnan(other):
        both = math.isnan(one) and math.isnan(other)
        return math.nan if both or "NaN" in words else other if math.isnan(one) else one
    return pick(one, other, key=lambda number: (number, math.copysign(1.0, number)))


def _root(words: Words, values: Sequence[int]) -> int:
    kind = type_of(words)
    value = real_number(values[0], kind, words)
    if not value > 0 or math.isinf(value):
        return _bits_of(value if not value or value > 0 else math.nan, kind, words)
    scaled = Fraction(value) * 4**600  # an integer, as no number here has more than 1,074 bits behind the point
    root = math.isqrt(int(scaled))
    return _bits_of(Fraction(2 * root + (root * root != scaled), 2**601), kind, words)


def _sign_changed(words: Words, bits: int, negate: bool) -> int:
    top = 1 << WIDTHS[type_of(words)] - 1
    bits = bits & 2 * top - 1
    if "ftz" in words and not real_number(bits, type_of(words), words):
        bits &= top
    return bits ^ top if negate else bits & ~top


def _quotient(one: int, other: int) -> int:
    if not other:
        return -1  # what a division by zero gives is not specified (9.7.1.12)
    found = abs(one) // abs(other)
    return found if (one < 0) == (other < 0) else -found


def _ratio(one: float, other: float, words: Words) -> float | Fraction:
    if not (math.isfinite(one) and math.isfinite(other)) or not one:
        return one / other if other else math.nan if not one or math.isnan(one) else one * math.copysign(1.0, other)
    if not other:
        return math.copysign(math.inf, one) * math.copysign(1.0, other)
    return Fraction(one) / Fraction(other)


def _product(words: Words, values: Sequence[int]) -> int:
    kind = type_of(words)
    if kind in _FORMATS:
        return _bits_of(_times(*(real_number(value, kind, words) for value in values)), kind, words)
    found = _number(values[0], words) * _number(values[1], words)
    return found >> WIDTHS[kind] if "hi" in words else found


def _product_24(words: Words, values: Sequence[int]) -> int:
    one, other = (signed(v, 24) if type_of(words)[0] == "s" else v & 0xFFFFFF for v in values[:2])
    return one * other >> 16 if "hi" in words else one * other


def _sum_of_product(words: Words, values: Sequence[int]) -> int:
    kind = type_of(words)
    if kind in _FORMATS:
        one, other, more = (real_number(value, kind, words) for value in values)
        return _bits_of(_fused(one, other, more, words), kind, words)
    found = _product(words, values) + (signed(values[2], WIDTHS[kind]) if "sat" in words else values[2])
    return _saturated(found, kind) if "sat" in words else found


def _sum_of_product_24(words: Words, values: Sequence[int]) -> int:
    found = _product_24(words, values)
    return _saturated(found + signed(values[2], 32), type_of(words)) if "sat" in words else found + values[2]


def _shifted(left: bool) -> Computed:
    def result(words: Words, values: Sequence[int]) -> int:
        width = WIDTHS[type_of(words)]
        count = min(values[1] & 0xFFFFFFFF, width)
        return values[0] << count if left else _number(values[0], words) >> count

    return Computed(2, result)


def _funnel(words: Words, values: Sequence[int]) -> int:
    low, high, count = values[0] & 0xFFFFFFFF, values[1] & 0xFFFFFFFF, values[2] & 0xFFFFFFFF
    count = min(count, 32) if "clamp" in words else count & 31
    both = high << 32 | low
    return both << count >> 32 if "l" in words else both >> count


def _field(words: Words, values: Sequence[int]) -> int:
    """``bfe``: bits of a value from a position on, so many of them."""
    kind = type_of(words)
    width, start, length = WIDTHS[kind], values[1] & 0xFF, values[2] & 0xFF
    value = values[0] & (1 << width) - 1
    last = min(start + length - 1, width - 1)
    sign = 0 if kind[0] == "u" or not length else value >> last & 1
    found = value >> start & (1 << length) - 1 if start < width else 0
    kept = max(0, min(length, width - start))
    return found if not sign else found & (1 << kept) - 1 | -1 << kept


def _inserted(words: Words, values: Sequence[int]) -> int:
    """``bfi``: bits of the first value in the place of bits of the second."""
    width = WIDTHS[type_of(words)]
    start, length = values[2] & 0xFF, values[3] & 0xFF
    mask = (1 << length) - 1 << start & (1 << width) - 1
    return values[1] & ~mask | values[0] << start & mask


_SELECTED: Mapping[str, Callable[[int, int], int]] = {
    "f4e": lambda start, place: start + place,
    "b4e": lambda start, place: start - place,
    "rc8": lambda start, place: start,
    "ecl": max,
    "ecr": min,
    "rc16": lambda start, place: (start & 1) * 2 + (place & 1),
}
"""The byte that stands at a place of the result, in each mode of ``prmt`` (9.7.9.7)."""


def _permuted(words: Words, values: Sequence[int]) -> int:
    """``prmt``: four of the eight bytes of two values, as a selector says."""
    data = ((values[1] & 0xFFFFFFFF) << 32 | values[0] & 0xFFFFFFFF).to_bytes(8, "little")
    mode = next((word for word in words if word in _SELECTED), None)
    found = bytearray()
    for place in range(4):
        choice = values[2] >> 4 * place & 0xF if mode is None else _SELECTED[mode](values[2] & 3, place) & 7
        byte = data[choice & 7]
        found.append((0xFF if byte >> 7 else 0) if choice >> 3 else byte)
    return int.from_bytes(found, "little")


def _by_table(words: Words, values: Sequence[int]) -> int:
    """``lop3``: each bit by a table of eight entries."""
    found = 0
    for bit in range(32):
        index = sum((value >> bit & 1) << place for value, place in zip(values, (2, 1, 0), strict=False))
        found |= (values[3] >> index & 1) << bit
    return found


def _leading(words: Words, values: Sequence[int]) -> int:
    width = WIDTHS[type_of(words)]
    return width - (values[0] & (1 << width) - 1).bit_length()


def _found_bit(words: Words, values: Sequence[int]) -> int:
    """``bfind``: the place of the highest bit that is not the sign."""
    kind = type_of(words)
    value = values[0] & (1 << WIDTHS[kind]) - 1
    if kind[0] == "s" and value >> WIDTHS[kind] - 1:
        value ^= (1 << WIDTHS[kind]) - 1
    place = value.bit_length() - 1
    return WIDTHS[kind] - 1 - place if "shiftamt" in words and place >= 0 else place


def _reversed(words: Words, values: Sequence[int]) -> int:
    width = WIDTHS[type_of(words)]
    return int(f"{values[0] & (1 << width) - 1:0{width}b}"[::-1], 2)


_COMPARED: Mapping[str, Callable[[float, float], bool]] = {name: getattr(operator, name) for name in COMPARISONS}
_UNSIGNED = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}


def compare(words: Words, one: int, other: int) -> bool:
    """Return the result of a comparison, whose words are those of ``setp``: ``lt.s32``, ``lo.u32``, ``neu.f32``."""
    kind = type_of(words)
    name = next(word for word in words if word not in WIDTHS and word not in ("ftz", "and", "or", "xor"))
    if kind in _FORMATS:
        left, right = real_number(one, kind, words), real_number(other, kind, words)
        unordered = math.isnan(left) or math.isnan(right)
        if name in ("num", "nan"):
            return unordered == (name == "nan")
        if len(name) == 3:
            return unordered or _COMPARED[name[:2]](left, right)
        return not unordered and _COMPARED[name](left, right)
    if name in _UNSIGNED:
        return _COMPARED[_UNSIGNED[name]](one & (1 << WIDTHS[kind]) - 1, other & (1 << WIDTHS[kind]) - 1)
    return _COMPARED[name](_number(one, words), _number(other, words))


def _converted(words: Words, values: Sequence[int]) -> int:
    """``cvt``: from the last type of its words to the first."""
    to, of = (word for word in words if word in WIDTHS)
    if of not in _FORMATS:
        number = _number(values[0], (of,))
        return _bits_of(Fraction(number) or 0.0, to, words) if to in _FORMATS else (
            _saturated(number, to) if "sat" in words else number
        )  # fmt: skip
    value = real_number(values[0], of, words)
    rounded = next((_ROUNDED[word] for word in words if word in _ROUNDED), None)
    if to in _FORMATS:
        if rounded is not None and math.isfinite(value):
            value = math.copysign(rounded(value), value)
        return _bits_of(value, to, words)
    if math.isnan(value):
        return 1 << WIDTHS[to] - 1 if of == "f64" or WIDTHS[to] == 64 else 0
    if math.isinf(value):
        return _saturated(1 << 64 if value > 0 else -1 << 64, to)
    return _saturated((rounded or math.trunc)(value), to)


_ROUNDED: Mapping[str, Callable[[float], int]] = {
    "rni": round,
    "rzi": math.trunc,
    "rmi": math.floor,
    "rpi": math.ceil,
}


def _wrapped_up(words: Words, values: Sequence[int]) -> int:
    """``atom.inc``: one more, or 0 from the bound on (9.7.13.5)."""
    old, bound = _number(values[0], words), _number(values[1], words)
    return old + 1 if old < bound else 0


def _wrapped_down(words: Words, values: Sequence[int]) -> int:
    """``atom.dec``: one less, or the bound where that is 0 or above the bound (9.7.13.5)."""
    old, bound = _number(values[0], words), _number(values[1], words)
    return bound if not old or old > bound else old - 1


def _one(integers: Callable[[int], int], negate: bool) -> Computed:
    def result(words: Words, values: Sequence[int]) -> int:
        return _sign_changed(words, values[0], negate) if _is_float(words) else integers(_number(values[0], words))

    return Computed(1, result)


def _selected_by_sign(words: Words, values: Sequence[int]) -> int:
    """``slct``: the first value where the third is at least 0, which -0 is and NaN is not."""
    kind = type_of(words)
    at_least = real_number(values[2], kind, words) >= 0 if kind in _FORMATS else signed(values[2], 32) >= 0
    return values[0] if at_least else values[1]


COMPUTED: Mapping[str, Computed] = {
    "mov": Computed(1, lambda words, values: values[0]),
    "cvt": Computed(1, _converted),
    "add": _binary(lambda a, b: a + b, _sum),
    "sub": _binary(lambda a, b: a - b, lambda a, b, words: _sum(a, -b, words)),
    "mul": Computed(2, _product),
    "mul24": Computed(2, _product_24),
    "mad": Computed(3, _sum_of_product),
    "mad24": Computed(3, _sum_of_product_24),
    "fma": Computed(3, _sum_of_product),
    "sad": Computed(3, lambda words, values: abs(_number(values[0], words) - _number(values[1], words)) + values[2]),
    "div": _binary(_quotient, _ratio),
    "rem": _binary(lambda a, b: a - b * _quotient(a, b) if b else a),
    "min": _binary(min, lambda a, b, words: _extreme(a, b, words, min)),
    "max": _binary(max, lambda a, b, words: _extreme(a, b, words, max)),
    "abs": _one(abs, negate=False),
    "neg": _one(lambda a: -a, negate=True),
    "not": Computed(1, lambda words, values: ~values[0]),
    "cnot": Computed(1, lambda words, values: int(not values[0])),
    "and": Computed(2, lambda words, values: values[0] & values[1]),
    "or": Computed(2, lambda words, values: values[0] | values[1]),
    "xor": Computed(2, lambda words, values: values[0] ^ values[1]),
    "shl": _shifted(left=True),
    "shr": _shifted(left=False),
    "shf": Computed(3, _funnel),
    "bfe": Computed(3, _field),
    "bfi": Computed(4, _inserted),
    "prmt": Computed(3, _permuted),
    "lop3": Computed(4, _by_table),
    "popc": Computed(1, lambda words, values: (values[0] & (1 << WIDTHS[type_of(words)]) - 1).bit_count()),
    "clz": Computed(1, _leading),
    "bfind": Computed(1, _found_bit),
    "brev": Computed(1, _reversed),
    "sqrt": Computed(1, _root),
    "inc": Computed(2, _wrapped_up),
    "dec": Computed(2, _wrapped_down),
    "selp": Computed(3, lambda words, values: values[0] if values[2] & 1 else values[1]),
    "slct": Computed(3, _selected_by_sign),
}
"""Every instruction that computes, by its name. Results are cut to the width of the result by who calls."""


def compute(name: str, words: Words, values: Sequence[int]) -> int:
    """Return the bits of the result of an instruction of ``COMPUTED``, given the bits of its operands."""
    return COMPUTED[name].result(words, values) & (1 << result_width(name, words)) - 1


def operation_of(opcode: str) -> Callable[[int, int], int]:
    """Return what an instruction with one or two operands computes, on numbers of its types in two's complement."""
    name, *words = opcode.split(".")
    if name == "setp":
        return lambda left, right: int(compare(words, left, right))
    width = result_width(name, words)
    return lambda left, right: signed(compute(name, words, (left, right)), width)
