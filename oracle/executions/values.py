"""The values of litmus tests, numbers and addresses, and the operations of instructions on them.

A value is a 32-bit two's complement number or an address: a location and an offset from it. A result without a meaning
(the product of two addresses, an address compared by size) is None, and no execution goes on with it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from corpus.litmus.arithmetic import MEANINGLESS, compute, wrap
from corpus.litmus.locations import element_of
from corpus.litmus.propositions import And, Atom, Not, Or, Proposition, Term


@dataclass(frozen=True, slots=True, order=True)
class Address:
    """An address ``&location + offset``; with an offset other than 0, an element of an array or no location of the
    test."""

    location: str
    offset: int = 0


Value = int | Address


def address_of(location: str) -> Address:
    """The address of a location, at offset 0."""
    return Address(*element_of(location))


def calculate(operation: str, left: Value, right: Value) -> Value | None:
    """The result of a binary operation of ``corpus.litmus.instructions``; a comparison gives 0 or 1."""
    if operation.startswith(MEANINGLESS):
        return int(calculate(operation.removeprefix(MEANINGLESS), left, right) is None)
    if isinstance(left, int) and isinstance(right, int):
        return compute(operation, left, right)
    if operation in ("eq", "ne"):
        return int((left == right) == (operation == "eq"))
    if isinstance(left, Address) and isinstance(right, Address):
        return _of_addresses(operation, left, right)
    operation = operation.removesuffix(".s64")
    if operation == "add" and isinstance(left, int):
        left, right = right, left
    if operation in ("add", "sub") and isinstance(left, Address) and isinstance(right, int):
        return Address(left.location, wrap(left.offset + (right if operation == "add" else -right)))
    return None


def _of_addresses(operation: str, left: Address, right: Address) -> Value | None:
    """The result of an operation on two addresses: of places in one array, their distance and their order."""
    if left.location != right.location:
        return None
    words = operation.split(".")
    compared = next((word for word in words if word in ("lt", "le", "gt", "ge")), None)
    if compared is not None:
        return compute(compared, left.offset, right.offset)
    return wrap(left.offset - right.offset) if words[0] == "sub" else None


def holds(proposition: Proposition, value: Callable[[Term], Value]) -> bool:
    """Whether a proposition is true where ``value`` gives the final value of each term."""
    match proposition:
        case Atom(operation, left, right):
            return calculate(operation, value(left), value(right)) == 1
        case Not(body):
            return not holds(body, value)
        case And(parts):
            return all(holds(part, value) for part in parts)
        case Or(parts):
            return any(holds(part, value) for part in parts)


def value_text(value: Value) -> str:
    """A value as it is written: ``1``, ``&x``, ``&x+4``."""
    if isinstance(value, int):
        return str(value)
    return f"&{value.location}" + (f"{value.offset:+d}" if value.offset else "")
