"""Says which computations have a result that is not determined, by the language that they are in.

There is one operation for each, whose value is 1 where that is so: ``undetermined.vulkan.div.u32`` of two numbers.

=========== ==========================================================================================================
``signed``    additions and the like of which SPIR-V says ``NoSignedWrap``, and which overflow (SPIR-V 1.6, 3.20)
``unsigned``  the same of ``NoUnsignedWrap``
``vulkan``    the Vulkan specification, Precision and Operation of SPIR-V Instructions; GLSL.std.450
``opencl``    the OpenCL SPIR-V Environment Specification, Numerical Compliance; OpenCL C 3.0, 6.3 and 7.4
=========== ==========================================================================================================

Additions of Vulkan are rounded as a device likes, and numbers may be subnormal, infinite or none as it likes; quotients
and roots are as exact as a device has them. OpenCL rounds to nearest even; a product may go unrounded into a sum.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from corpus.litmus.ptx_arithmetic import WIDTHS, compute, real_number, signed, type_of

UNDETERMINED = "undetermined"
"""The first word of the operations."""

_Rule = Callable[[Sequence[str], Sequence[int]], bool]


class _Rules(NamedTuple):
    """When a result of integers is not determined, and when one of or to floating-point numbers; None: it always is."""

    integers: _Rule | None = None
    reals: _Rule | None = None


def rule_of(language: str, name: str, words: Sequence[str]) -> _Rule | None:
    """Return the rule that says of the bits of operands whether a result is not determined; None where it always is."""
    rules = _RULES.get(language, {}).get(name, _Rules())
    return rules.reals if any(word[0] == "f" for word in words if word in WIDTHS) else rules.integers


def operation_of(opcode: str) -> Callable[[int, int], int]:
    """Return the operation on two numbers in two's complement, ``undetermined.signed.add.s32``."""
    _, language, name, *words = opcode.split(".")
    every = (1 << WIDTHS[next((word for word in reversed(words) if word in WIDTHS), "b64")]) - 1
    rule = rule_of(language, name, words)
    return lambda left, right: int(rule is not None and rule(words, (left & every, right & every)))


# integers


def _numbers(words: Sequence[str], values: Sequence[int]) -> list[int]:
    kind = type_of(words)
    return [signed(value, WIDTHS[kind]) if kind[0] == "s" else value for value in values]


def _overflows(exact: Callable[[Sequence[int]], int], sign: str) -> _Rule:
    def rule(words: Sequence[str], values: Sequence[int]) -> bool:
        width = WIDTHS[type_of(words)]
        found = exact([signed(value, width) if sign == "s" else value for value in values])
        return found != (signed(found, width) if sign == "s" else found % (1 << width))

    return rule


def _wraps(sign: str) -> Mapping[str, _Rules]:
    return {
        "add": _Rules(_overflows(lambda values: values[0] + values[1], sign)),
        "sub": _Rules(_overflows(lambda values: values[0] - values[1], sign)),
        "mul": _Rules(_overflows(lambda values: values[0] * values[1], sign)),
        "neg": _Rules(_overflows(lambda values: -values[0], sign)),
        "shl": _Rules(_overflows(lambda values: values[0] << min(values[1], 64), sign)),
    }


def _divides(words: Sequence[str], values: Sequence[int]) -> bool:
    one, other = _numbers(words, values)
    kind = type_of(words)
    return other == 0 or (kind[0] == "s" and other == -1 and one == -1 << WIDTHS[kind] - 1)


def _rest_of_negative(words: Sequence[str], values: Sequence[int]) -> bool:
    return _divides(words, values) or min(_numbers(words, values)) < 0


def _shifts(words: Sequence[str], values: Sequence[int]) -> bool:
    return values[1] >= WIDTHS[type_of(words)]


def _beyond_24(words: Sequence[str], values: Sequence[int]) -> bool:
    low, high = (-(1 << 23), 1 << 23) if type_of(words)[0] == "s" else (0, 1 << 24)
    return not all(low <= number < high for number in _numbers(words, values))


def _out_of_order(words: Sequence[str], values: Sequence[int]) -> bool:
    if type_of(words)[0] == "f":
        low, high = (real_number(value, type_of(words)) for value in values)
        return not low <= high
    low, high = _numbers(words, values)
    return low > high


def _out_of_field(words: Sequence[str], values: Sequence[int]) -> bool:
    return sum(values) > WIDTHS[type_of(words)]


def _no_component(words: Sequence[str], values: Sequence[int]) -> bool:
    return values[0] >= values[1]


# floating-point numbers


def _subnormal(value: int, kind: str) -> bool:
    number = real_number(value, kind)
    return number != 0 and abs(number) < {"f16": 2.0**-14, "f32": 2.0**-126, "f64": 2.0**-1022}[kind]


def _exact(one: Callable[..., Fraction], name: str) -> _Rule:
    """Return the rule that a result has to be a number of the format as it is, of and with no subnormal ones."""

    def rule(words: Sequence[str], values: Sequence[int]) -> bool:
        kind = type_of(words)
        result = compute(name, words, values)
        numbers = [real_number(value, kind) for value in (*values, result)]
        if not all(map(math.isfinite, numbers)) or any(_subnormal(value, kind) for value in (*values, result)):
            return True
        *given, found = map(Fraction, numbers)
        return one(*given) != found

    return rule


def _rounded(name: str) -> _Rule:
    """Return the rule of what OpenCL rounds to nearest even, where no number is subnormal, which a device may flush."""

    def rule(words: Sequence[str], values: Sequence[int]) -> bool:
        kind = type_of(words)
        result = compute(name, words, values)
        every = (*values, result)
        return math.isnan(real_number(result, kind)) or (
            kind == "f32" and any(_subnormal(value, kind) for value in every)
        )

    return rule


def _always(words: Sequence[str], values: Sequence[int]) -> bool:
    return True


def _inexact_quotient(words: Sequence[str], values: Sequence[int]) -> bool:
    return type_of(words) != "f64"


def _converted(to_nearest: bool) -> _Rule:
    """Return the rule of conversions: to an integer that has the whole part, and to a number that is exact unless the
    language rounds ``to_nearest``.
    """

    def rule(words: Sequence[str], values: Sequence[int]) -> bool:
        to, of = (word for word in words if word in WIDTHS)
        number: float | int = real_number(values[0], of) if of[0] == "f" else _numbers((of,), values[:1])[0]
        if to[0] != "f":
            low, high = (-(1 << WIDTHS[to] - 1), 1 << WIDTHS[to] - 1) if to[0] == "s" else (0, 1 << WIDTHS[to])
            return "sat" not in words and not (math.isfinite(number) and low <= math.trunc(number) < high)
        if of[0] == "f" and (not math.isfinite(number) or _subnormal(values[0], of)):
            return not to_nearest or math.isnan(number) or of == "f32"
        if to == of or to_nearest:
            return False
        found = real_number(compute("cvt", words, values[:1]), to)
        return not math.isfinite(found) or Fraction(found) != Fraction(number)

    return rule


def _extreme(nan: bool) -> _Rule:
    """Return the rule of a minimum or maximum: which of two zeros it is, and with ``nan`` what it is of no number."""

    def rule(words: Sequence[str], values: Sequence[int]) -> bool:
        numbers = [real_number(value, type_of(words)) for value in values]
        zeros = numbers == [0, 0] and values[0] != values[1]
        return zeros or (nan and any(map(math.isnan, numbers)))

    return rule


def _compares(words: Sequence[str], values: Sequence[int]) -> bool:
    kind = type_of(words)
    return any(math.isnan(real_number(value, kind)) or _subnormal(value, kind) for value in values)


def _compares_subnormal(words: Sequence[str], values: Sequence[int]) -> bool:
    kind = type_of(words)
    return kind == "f32" and any(_subnormal(value, kind) for value in values)


_OF_BOTH: Mapping[str, _Rules] = {
    "shl": _Rules(_shifts),
    "shr": _Rules(_shifts),
    "rem": _Rules(_divides),
    "mul24": _Rules(_beyond_24),
    "ordered": _Rules(_out_of_order, _out_of_order),
    "field": _Rules(_out_of_field),
    "component": _Rules(_no_component),
    "mul": _Rules(None, _exact(lambda a, b: a * b, "mul")),
}

_RULES: Mapping[str, Mapping[str, _Rules]] = {
    "signed": _wraps("s"),
    "unsigned": _wraps("u"),
    "zeros": {"clz": _Rules(lambda words, values: values[0] == 0)},
    "vulkan": {
        **_OF_BOTH,
        "rem": _Rules(_rest_of_negative),
        "div": _Rules(_divides, _always),
        "add": _Rules(None, _exact(lambda a, b: a + b, "add")),
        "sub": _Rules(None, _exact(lambda a, b: a - b, "sub")),
        "fma": _Rules(None, _exact(lambda a, b, c: a * b + c, "fma")),
        "sqrt": _Rules(None, _always),
        "cvt": _Rules(None, _converted(to_nearest=False)),
        "min": _Rules(None, _extreme(nan=True)),
        "max": _Rules(None, _extreme(nan=True)),
        "setp": _Rules(None, _compares),
    },
    "opencl": {
        **_OF_BOTH,
        "div": _Rules(_divides, _inexact_quotient),
        "add": _Rules(None, _rounded("add")),
        "sub": _Rules(None, _rounded("sub")),
        "fma": _Rules(None, _rounded("fma")),
        "sqrt": _Rules(None, _inexact_quotient),
        "cvt": _Rules(None, _converted(to_nearest=True)),
        "min": _Rules(None, _extreme(nan=False)),
        "max": _Rules(None, _extreme(nan=False)),
        "setp": _Rules(None, _compares_subnormal),
    },
}
"""By language the computations that may be undetermined; all others are as they are said to be."""

COMPUTATIONS = frozenset(name for rules in _RULES.values() for name in rules)
"""The names of the computations that a language has rules for."""
