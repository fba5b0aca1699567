"""What the specialiser knows of a value: its bits, a pointer, or which register of the residual program holds it."""

from __future__ import annotations

import re
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


Value = int | Pointer | Half | Held | Scaled | Described | Unknown | Missing
"""An int is the bits of a value, from 0 on."""


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
