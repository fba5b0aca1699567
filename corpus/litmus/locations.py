"""Says where the values of a litmus test are: in registers, and in locations of a region of memory.

Memory and registers start at 0 where no other value is given. Values are 32-bit, two's complement.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from corpus.hashing import hashed_once


class Region(StrEnum):
    """Where a location is. ``SHARED`` memory belongs to one CTA (OpenCL: local).

    Asynchronous operations of PTX access two more: registers of a thread, of which an operation has some
    (``REGISTER``), and the tensor memory of a CTA (``TENSOR``).
    """

    GLOBAL = "global"
    SHARED = "shared"
    REGISTER = "register"
    TENSOR = "tensor"


MEMORY_REGIONS = (Region.GLOBAL, Region.SHARED)
"""The regions of memory that any access may be to."""


@dataclass(frozen=True, slots=True, order=True)
class Reg:
    """A register of the thread that mentions it."""

    name: str


@dataclass(frozen=True, slots=True, order=True)
class Loc:
    """A location. As an operand its address, as a term of a condition its final value."""

    name: str


Operand = int | Reg | Loc


@dataclass(frozen=True, slots=True)
class Alias:
    """Another address of a location's memory, for accesses through a proxy of PTX (``texture``); None: any access."""

    location: str
    proxy: str | None = None


@hashed_once
@dataclass(frozen=True)
class Location:
    """A location with its initial value (a number, or another location's address) and region.

    The elements of an array ``x`` are the locations ``x``, ``x[1]``, .. in a row, whose addresses are one apart.

    With an ``alias`` it has no memory of its own, nor an initial value, but is one more address of another location's.
    ``atomic``: that it is declared to be, or not to be, what only atomics may access; None: what its accesses say.
    """

    name: str
    initial: int | Loc = 0
    region: Region = Region.GLOBAL
    alias: Alias | None = None
    atomic: bool | None = field(default=None, repr=False)


NOWHERE = "nowhere"
"""The location that stands for all places that are no location of a test, if the test has it."""


def element(array: str, index: int) -> str:
    """Return the location that is an element of an array."""
    return f"{array}[{index}]" if index else array


def element_of(location: str) -> tuple[str, int]:
    """Return the array that a location is an element of, and the element's index. A location outside arrays gives
    itself and 0.
    """
    array, _, index = location.partition("[")
    return array, int(index[:-1]) if index else 0


def physical(locations: Mapping[str, Location], name: str) -> str:
    """Return the location that has the memory of a location: itself, or what it is an alias of."""
    while (alias := locations[name].alias) is not None:
        name = alias.location
    return name
