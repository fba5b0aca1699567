"""Computes the operations of litmus tests on numbers of 32 bits in two's complement.

An operation with a dot in its name is an instruction of PTX, such as ``shr.u64``, on numbers of its own width.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import lru_cache

from corpus.litmus.instructions import COMPARISONS
from corpus.litmus.orders import MBARRIER

UNDETERMINED = "undetermined."
"""How the operations begin of ``corpus.litmus.undetermined``."""


MEANINGLESS = "meaningless."
"""How the operations begin that say whether another one has no meaning, as a product of addresses: 1, else 0."""


def wrap(number: int) -> int:
    """Return the number modulo 2^32, as a signed number."""
    return (number + (1 << 31)) % (1 << 32) - (1 << 31)


def compute(operation: str, left: int, right: int) -> int:
    """Return the result of a binary operation of ``corpus.litmus.instructions``, comparisons included (0 or 1)."""
    if "." in operation:
        return _instruction(operation)(left, right)
    return wrap(_OPERATIONS[operation](left, right))


@lru_cache
def _instruction(opcode: str) -> Callable[[int, int], int]:
    # Most tests have none.
    if opcode.startswith(MBARRIER):
        from corpus.litmus.mbarrier import MBARRIER_OPERATIONS

        return MBARRIER_OPERATIONS[opcode.partition(".")[2]]
    if opcode.startswith(UNDETERMINED):
        from corpus.litmus import undetermined

        return undetermined.operation_of(opcode)
    from corpus.litmus.ptx_arithmetic import operation_of

    return operation_of(opcode)


def _divide(left: int, right: int) -> int:
    if right == 0:
        return 0
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


_OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "add": lambda left, right: left + right,
    "sub": lambda left, right: left - right,
    "mul": lambda left, right: left * right,
    "div": _divide,
    "and": lambda left, right: left & right,
    "or": lambda left, right: left | right,
    "xor": lambda left, right: left ^ right,
    "min": min,
    "max": max,
    **{name: getattr(operator, name) for name in COMPARISONS},
}
