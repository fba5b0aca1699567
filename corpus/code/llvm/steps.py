"""Intrinsics of LLVM that are computed in several steps, each an operation of one or two operands: rotations, bytes in
the opposite order, zeros before and behind the bits of a number, sums that stay at the least or greatest number.

    fshl(x, y, n)      x << n % 32 | y >> 1 >> 31 - n % 32
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Protocol

from corpus.code import ir


class StepWriter(Protocol):
    """Writes an operation on numbers of a kind, ``s`` with a sign, ``u`` without, ``b`` bits, with what is promised of
    them; returns its result.
    """

    def __call__(self, operation: str, sign: str, *operands: ir.Operand, flag: str = "") -> ir.Operand:
        """Write an operation."""


Steps = Callable[[StepWriter, int, Sequence[ir.Operand]], ir.Operand]
"""Writes the steps of an intrinsic on numbers of so many bits, with its operands; returns its result."""

NONZERO = "nonzero"
"""The promise that a number is not 0."""


def _number(value: int, bits: int) -> ir.Number:
    return ir.Number(value % (1 << bits))


def _promised(operand: ir.Operand, flag: str) -> str:
    """Return a promise that an operand of one bit makes."""
    return flag if operand == ir.Number(1) else ""


def _absolute(step: StepWriter, bits: int, values: Sequence[ir.Operand]) -> ir.Operand:
    value, promised = values
    opposite = step("sub", "s", _number(0, bits), value, flag=_promised(promised, "nsw"))
    return step("max", "s", value, opposite)


def _leading(step: StepWriter, bits: int, values: Sequence[ir.Operand]) -> ir.Operand:
    value, promised = values
    return step("clz", "b", value, flag=_promised(promised, NONZERO))


def _trailing(step: StepWriter, bits: int, values: Sequence[ir.Operand]) -> ir.Operand:
    value, promised = values
    return step("clz", "b", step("brev", "b", value), flag=_promised(promised, NONZERO))


def _bytes_reversed(step: StepWriter, bits: int, values: Sequence[ir.Operand]) -> ir.Operand:
    (value,) = values
    bytes_ = [
        step("and", "b", step("shr", "u", value, _number(place, bits)), _number(0xFF, bits))
        for place in range(0, bits, 8)
    ]
    moved = [
        step("shl", "b", byte, _number(place, bits))
        for byte, place in zip(bytes_, range(bits - 8, -1, -8), strict=True)
    ]
    return reduce(lambda one, other: step("or", "b", one, other), moved)


def _rotated(left: bool) -> Steps:
    """Return the steps of two numbers that are shifted together, by a number of bits that is taken modulo theirs."""

    def steps(step: StepWriter, bits: int, values: Sequence[ir.Operand]) -> ir.Operand:
        high, low, count = values
        by = step("rem", "u", count, _number(bits, bits))
        rest = step("sub", "u", _number(bits - 1, bits), by)
        if left:
            return step("or", "b", step("shl", "b", high, by), _up_and_down(step, bits, "shr", low, rest))
        return step("or", "b", _up_and_down(step, bits, "shl", high, rest), step("shr", "u", low, by))

    return steps


def _up_and_down(step: StepWriter, bits: int, operation: str, value: ir.Operand, by: ir.Operand) -> ir.Operand:
    """Shift by one more than a number, which may be all the bits."""
    sign = "u" if operation == "shr" else "b"
    return step(operation, sign, step(operation, sign, value, _number(1, bits)), by)


def _saturated(operation: str, sign: str) -> Steps:
    return lambda step, bits, values: step(f"{operation}.sat", sign, *values)


STEPS: Mapping[str, tuple[int, Steps]] = {
    "abs": (2, _absolute),
    "ctlz": (2, _leading),
    "cttz": (2, _trailing),
    "bswap": (1, _bytes_reversed),
    "fshl": (3, _rotated(left=True)),
    "fshr": (3, _rotated(left=False)),
    **{f"{sign}{operation}.sat": (2, _saturated(operation, sign)) for sign in "su" for operation in ("add", "sub")},
}
"""The intrinsics by name, each with how many operands it has and what writes its steps."""
