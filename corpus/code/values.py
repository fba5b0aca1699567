"""What is known of a value while code is followed: one domain for all languages.

    0x2A                                              the bits of a number, all of which are known
    Partial(0x00, 0xFF, Unknown("padding"))           a number whose lowest byte is not known
    ArrayAddress(Array("shared", 0, "tile"), 8)       byte 8 of tile in the shared memory of block 0
    Symbol("r1", 32)                                  what the register r1 of the residual program holds
    Affine(Array("argument", NOBODY, "a"), (("r1", 4),), 8)   a + 4 * r1 + 8
    Affine(None, (("r1", 1),), 2)                     the number r1 + 2
    Half(ArrayAddress(..), high=True)                 the upper 32 bits of an address
    Compared(Affine(..), Affine(..))                  flags, of which nothing has asked yet
    Unknown("the value of %clock")                    nothing tells it, and why

A symbol stands for a value that is known when the program runs. An unknown is a value that is followed: what is
computed of it is unknown, and what it may not decide is refused where it would.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

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
    """``base + coefficient * register + .. + offset``, in bytes: an address, or, without a base, a number or a part of
    an address. Sums and products are those of 64 bits with a sign.

    ``terms`` are the registers with their coefficients. ``near``: the base is an address of its state space. ``low``:
    of the sum, only the lowest 32 bits are known. ``span``: the terms together are from 0 to this, where that is known.
    """

    base: Array | None
    terms: tuple[tuple[str, int], ...] = ()
    offset: int = 0
    near: bool = False
    low: bool = False
    span: int | None = None

    @property
    def constant(self) -> int | None:
        """The number that the value is, whatever is read; None where it is another one."""
        return None if self.base is not None or self.terms else self.offset

    def plus(self, other: Affine) -> Affine | None:
        """Return the sum; None where both are addresses, or where a register falls out of it, and a dependency with
        it.
        """
        if self.base is not None and other.base is not None:
            return None
        factors = dict(self.terms)
        for register, factor in other.terms:
            factors[register] = factors.get(register, 0) + factor
        base = self.base if other.base is None else other.base
        return _affine(base, self.offset + other.offset, factors, self.low or other.low)

    def times(self, factor: int) -> Affine | None:
        """Return the product with a constant; None for an address, and for 0 times something that was read."""
        if factor == 1:
            return self
        if self.base is not None:
            return None
        factors = {register: coefficient * factor for register, coefficient in self.terms}
        return _affine(None, self.offset * factor, factors, self.low)

    def further(self, number: int) -> Affine:
        """Return the value plus a number, modulo 2^64; of an address the one so many bytes on."""
        return replace(self, offset=wrap_wide(self.offset + number))


def _affine(base: Array | None, offset: int, factors: Mapping[str, int], low: bool) -> Affine | None:
    """Return a sum modulo 2^64; None where a register falls out of it."""
    terms = tuple(sorted((register, wrap_wide(factor)) for register, factor in factors.items()))
    lost = any(factor == 0 for _, factor in terms)
    return None if lost else Affine(base, terms, wrap_wide(offset), low=low)


def wrap_wide(number: int) -> int:
    """Return a number modulo 2^64, with its sign."""
    return (number + (1 << 63)) % (1 << 64) - (1 << 63)


def number(value: int) -> Affine:
    """Return a constant of 64 bits with its sign."""
    return Affine(None, offset=wrap_wide(value))


def register(name: str) -> Affine:
    """Return what a register of the residual program holds, as a sum."""
    return Affine(None, ((name, 1),))


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


@dataclass(frozen=True, slots=True)
class Compared:
    """The flags after a comparison of two values, which are kept until something asks; ``wide`` where 64 bits are
    compared, ``signless`` where what is less and greater is so without a sign.
    """

    left: Affine | Unknown
    right: Affine | Unknown
    wide: bool = False
    signless: bool = False


Value = int | ArrayAddress | Half | Symbol | Affine | Descriptor | Unknown | Missing | Partial | Compared
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
        position = 2
        while (digit := re.search(r"\d+", name[position:])) is not None:
            start = position + digit.end()
            end = start + int(digit[0])
            if end > len(name):
                break
            found, position = name[start:end], end
    return found
