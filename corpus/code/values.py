"""What is known of a value while code is followed: one domain for all languages.

    0x2A                                              the bits of a number, all of which are known
    Partial(0x00, 0xFF, Unknown("padding"))           a number whose lowest byte is not known
    ArrayAddress(Array("shared", 0, "tile"), 8)       byte 8 of tile in the shared memory of block 0
    Symbol("r1", 32)                                  what the register r1 of the residual program holds
    Affine(Array("argument", NOBODY, "a"), (("r1", 4),), 8)   a + 4 * r1 + 8
    Half(ArrayAddress(..), high=True)                      the upper 32 bits of an address
    Unknown("the value of %clock")                    nothing tells it, and why

A symbol stands for a value that is known when the program runs. An unknown is a value that is followed: what is
computed of it is unknown, and what it may not decide is refused where it would.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from corpus.code.places import Array


@dataclass(frozen=True, slots=True)
class ArrayAddress:
    """An address: an array of the program and an offset in bytes.

    ``near``: it is one of its state space, such as PTX's ``shared``, which a generic access does not take.
    """

    array: Array
    offset: int = 0
    near: bool = False


@dataclass(frozen=True, slots=True)
class Half:
    """One half of an address: 32 of its 64 bits."""

    pointer: ArrayAddress
    high: bool


@dataclass(frozen=True, slots=True)
class Symbol:
    """A value that is known when the program runs: the register that holds it, and its width in bits.

    ``checked``: it is an address that is not null.
    """

    register: str
    width: int
    checked: bool = False


@dataclass(frozen=True, slots=True)
class Affine:
    """``base + coefficient * register + .. + offset``, in bytes: an address, or, without a base, a part of one.

    ``terms`` are the registers with their coefficients. ``near``: the base is an address of its state space.
    """

    base: Array | None
    terms: tuple[tuple[str, int], ...]
    offset: int = 0
    near: bool = False


@dataclass(frozen=True, slots=True)
class Descriptor:
    """A matrix descriptor, or the beginning of one: bits 0 to 13 are an address in shared memory in units of 16 bytes,
    which is ``start`` bytes into an array; ``bits`` are the others.
    """

    array: Array
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


Value = int | ArrayAddress | Half | Symbol | Affine | Descriptor | Unknown | Missing | Partial
"""An int is the bits of a value, from 0 on."""


def array_of(value: Value) -> Array | None:
    """Return the array that an address is in; None of what is not known to be an address in an array."""
    return value.array if isinstance(value, ArrayAddress) else value.base if isinstance(value, Affine) else None


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
    low, high = (sum(part << bits * n for n, part in enumerate(parts)) for parts in (lows, highs))
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
