"""Places in memory as values: arrays, places in them, and where a thread keeps what it knows.

Array("shared", 0, "tile")          tile in the shared memory of block 0
Array("argument", NOBODY, "data")   the memory that the argument data points to
ArrayPlace of it at 8               its third word, as an operand of the residual program
RegisterHome(0, "%r1")              %r1 of the kernel; of the function that it calls RegisterHome(1, "%r1")
Cell(0, "x", 4, 4)                  bytes 4 to 7 of the kernel's own variable x
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from corpus.litmus.locations import Loc

OWN = ("local", "param")
"""The spaces of memory that a thread has for itself."""

NEAR = ("shared", *OWN, "const")
"""The spaces whose addresses are no generic addresses (PTX ISA 9.1, 5.1 and 9.7.9.20)."""

SLOTS = "slots"
"""The space of arrays by which threads exchange values at a barrier or in a warp. It is the system's, not memory."""

CODE = "code"
"""The space of functions, for their addresses."""

WORD = 4
"""The bytes of an element of which nothing else is known."""

NOBODY = -1
"""The owner of arrays that no thread and no block has for itself."""


GONE = 1 << 16
"""The owner of variables of calls that are over."""


class Array(NamedTuple):
    """Memory whose places are offsets in bytes: its space, its owner, and its name.

    The owner of shared memory is its block, by its number; that of a thread's own memory is the call that it belongs
    to, by how many calls are around it.
    """

    space: str
    owner: int
    name: str

    @property
    def is_own(self) -> bool:
        """Whether the thread has the array for itself."""
        return self.space in OWN

    def __str__(self) -> str:
        return f"{self.space}:{'' if self.owner == NOBODY else self.owner}:{self.name}"


ANYWHERE = Array("", NOBODY, "")
"""The array of accesses by addresses that are read from memory: any that there is."""


def argument_array(name: str) -> Array:
    """Return the memory that an argument points to."""
    return Array("argument", NOBODY, name)


@dataclass(frozen=True, slots=True)
class ArrayPlace(Loc):
    """A place in an array as an operand, until the sizes of all accesses are known and it becomes a location."""

    array: Array
    offset: int


def array_place(array: Array, offset: int) -> ArrayPlace:
    """Return a place in an array as an operand of the residual program; its name is one that no location has."""
    return ArrayPlace(f"{array}#{offset}", array, offset)


class RegisterHome(NamedTuple):
    """Where a register's value is known: how many calls are around the function that it is of, and its name."""

    depth: int
    name: str


class Cell(NamedTuple):
    """Where the value of so many bytes of memory is known, as they were written: the owner of the array, its name, and
    the offset.
    """

    depth: int
    name: str
    offset: int
    size: int

    def meets(self, offset: int, size: int) -> bool:
        """Decide whether the cell has one of so many bytes at an offset."""
        return self.offset < offset + size and offset < self.offset + self.size


Home = RegisterHome | Cell
"""Where a thread keeps a value that it knows."""


def cell_of(array: Array, offset: int, size: int) -> Cell:
    """Return the home of so many bytes at an offset of an array that the thread owns."""
    return Cell(array.owner, array.name, offset, size)


CREATED, JOINED = "created", "has joined"
"""What is counted of threads: how many the thread at hand has created, and, with a number, whether it joined that."""


def is_of_threads(home: Home) -> bool:
    """Decide whether a home has what is counted of threads, which is always known."""
    return isinstance(home, Cell) and home == counter(home.name) and home.name.startswith((CREATED, JOINED))


def counter(what: str) -> Cell:
    """Return the home of a number that the system keeps for a thread as long as it runs."""
    return Cell(0, what, 0, 4)
