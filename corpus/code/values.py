"""What the specialiser knows of a value: its bits, a pointer, or which register of the residual program holds it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pointer:
    """An address: an array of the program and an offset in bytes.

    ``near``: it is one of its state space, such as PTX's ``shared``, which a generic access does not take.
    """

    array: str
    offset: int = 0
    near: bool = False


@dataclass(frozen=True, slots=True)
class Half:
    """One half of a pointer: 32 of its 64 bits."""

    pointer: Pointer
    high: bool


@dataclass(frozen=True, slots=True)
class Held:
    """A value that is known when the program runs: the register that holds it, and its width in bits.

    ``checked``: it is an address that is not null.
    """

    register: str
    width: int
    checked: bool = False


@dataclass(frozen=True, slots=True)
class Scaled:
    """``base + scale * register + offset``, in bytes: an address, or, without a base, a part of one.

    ``near``: the base is an address of its state space.
    """

    base: str | None
    register: str
    scale: int
    offset: int = 0
    near: bool = False


@dataclass(frozen=True, slots=True)
class Described:
    """A matrix descriptor, or the beginning of one: bits 0 to 13 are an address in shared memory in units of 16 bytes,
    which is ``start`` bytes into an array; ``bits`` are the others.
    """

    array: str
    start: int
    bits: int = 0


@dataclass(frozen=True, slots=True)
class Unknown:
    """A value that nothing tells, as that of a clock, and why."""

    reason: str


@dataclass(frozen=True, slots=True)
class Missing:
    """A parameter that the launch does not give: its name, and where a part of it begins, in bytes."""

    parameter: str
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Partial:
    """A number of which some bits are known, such as a field and the padding beside it: what it is where the others
    are 0, and where they are 1; and what the others are.
    """

    low: int
    high: int
    rest: Unknown | Missing


Value = int | Pointer | Half | Held | Scaled | Described | Unknown | Missing | Partial
"""An int is the bits of a value, from 0 on."""


def whole(value: Value) -> Value:
    """Return a value as those have it that do not look at its bits: one that is known in part is not known."""
    return value.rest if isinstance(value, Partial) else value


def bounds(value: int | Partial) -> tuple[int, int]:
    """Return a number with the bits that are not known as 0, and as 1."""
    return (value.low, value.high) if isinstance(value, Partial) else (value, value)


def cut(value: int | Partial, start: int, bits: int) -> Value:
    """Return so many bits of a number, from one on."""
    mask = (1 << bits) - 1
    if isinstance(value, int):
        return value >> start & mask
    return joined([value.low >> start & mask], [value.high >> start & mask], bits, value.rest)


def joined(lows: Sequence[int], highs: Sequence[int], bits: int, rest: Unknown | Missing) -> Value:
    """Return parts of so many bits each, the lowest first, as one number: known, in part, or not at all."""
    low, high = (sum(each << bits * n for n, each in enumerate(every)) for every in (lows, highs))
    if low == high:
        return low
    return rest if high - low == (1 << bits * len(lows)) - 1 else Partial(low, high, rest)


def plain_name(name: str) -> str:
    """Return the name that the source has for a mangled one: ``last`` for ``_ZZ3sumE4last`` (Itanium C++ ABI, 5.1)."""
    found = name
    if name.startswith("_Z"):
        at = 2
        while (digit := re.search(r"\d+", name[at:])) is not None:
            start = at + digit.end()
            end = start + int(digit[0])
            if end > len(name):
                break
            found, at = name[start:end], end
    return found
