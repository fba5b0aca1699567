"""The threads of a program that creates them, as they are known in the end, and how they wait for each other.

A thread that is created after its creator has done something waits for it: the creator writes a location of the
system's, which the thread reads, as release and acquire. So does who joins a thread read what that one writes at its
end. Nobody spins there: a barrier of the two blocks who waits::

    st.release thread_1_ended, 1             barrier of two
    barrier of two, without waiting          L0: ld.acquire r, thread_1_ended
                                             beq r, 0, L0
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from corpus.code.launch.contests import ThreadAccesses
from corpus.code.launch.launch import ThreadIds
from corpus.code.places import NOBODY, Array, Cell, array_place
from corpus.code.residual import Access, Residual
from corpus.code.thread import (
    Parts,
)
from corpus.code.values import ArrayAddress, Value
from corpus.litmus.instructions import Barrier, Branch, Comparison, Instruction, Label, Load, Store
from corpus.litmus.locations import Reg
from corpus.litmus.orders import Mode, Order, Scope

OBJECTS = "object"
"""The space of memory that all threads may access."""


SLOT = 8
"""The bytes of an element of an array in that space."""


EARLY = 2
"""What is in the location of the end of a thread that has stopped before its end."""


MADE = "object."
"""How the names of arrays begin that functions such as malloc have made."""

NOTIFIED = "notified."
"""How the names of arrays begin that count how often those were notified who wait for atomic objects of another."""

BESIDE = "beside."
"""How the names of arrays begin that have a number of the library's beside each object of another."""

CLAIMED = "claimed"
"""The location of the system's that says that a thread is joined or detached, where several threads may do that."""

BEGUN, ENDED, GIVEN = "begun", "ended", "result"
"""The locations of the system's by which a thread begins, ends, and leaves a result."""


RESULT = "result"
"""The register that has what a function returns."""


SYSTEM = "thread."


MOST_CELLS = 256
"""The elements of an object that may be accessed by addresses that are read from memory."""


_RELEASE = Mode(Order.RELEASE, Scope.SYS)


_ACQUIRE = Mode(Order.ACQUIRE, Scope.SYS)


Step = tuple[Instruction, Access | None]
"""An instruction of the residual program, and the access that it is."""


def system_array(number: int, what: str) -> Array:
    """Return the array of the system's for a thread."""
    return Array(OBJECTS, NOBODY, f"{SYSTEM}{number}.{what}")


def signal(number: int, what: str, value: int = 1) -> Iterator[Step]:
    """Yield what lets those go on who wait for a thread to begin, or to end, where it has ended early (``EARLY``)."""
    array = system_array(number, what)
    yield Store(array_place(array, 0), value, _RELEASE), Access(array, 0, SLOT)
    yield _meeting(number, what, arrive=True), None


def wait(number: int, what: str, again: str) -> Iterator[Step]:
    """Yield what waits for a thread to begin, or to end; ``again`` is a label that nothing else has."""
    array, name = system_array(number, what), f"{what}{number}"
    label = f"{name}_{again}"
    yield _meeting(number, what, arrive=False), None
    yield Label(label), None
    yield Load(name, array_place(array, 0), _ACQUIRE), Access(array, 0, SLOT)
    yield Branch(label, Comparison("eq", Reg(name), 0)), None


def _meeting(number: int, what: str, arrive: bool) -> Barrier:
    return Barrier(2 * number + (what == ENDED), arrive=arrive, quorum=2, scope=Scope.SYS)


@dataclass
class CreatedThreads:
    """All threads of a program: what is left of each, its function, and what memory holds where others begin.

    ``start`` has the values of memory by its cells, ``sizes`` the bytes of arrays that threads have made, ``zeroed``
    those of them that begin as zeros, ``made_by`` what made them, ``made`` those that functions such as malloc have
    made, ``cells`` the places and sizes of what addresses from memory may lead to, ``outside`` those behind an array.
    ``parts``: where plain accesses of several sizes overlap, which are made of parts. ``needed``: the threads at whose
    end the program ends; None: it ends where all of them have ended. ``kept``: what was read where nobody writes.
    ``claims``: the threads that each thread joins or detaches. ``places``:
    those whose addresses are in memory.
    """

    followed: list[tuple[ThreadIds, list[Residual]]] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    assumed: dict[str, None] = field(default_factory=dict)
    start: dict[Cell, Value] = field(default_factory=dict)
    sizes: dict[Array, int] = field(default_factory=dict)
    zeroed: set[Array] = field(default_factory=set)
    made_by: dict[Array, str] = field(default_factory=dict)
    accesses: list[ThreadAccesses] = field(default_factory=list)
    made: set[Array] = field(default_factory=set)
    exceptions: dict[Array, ArrayAddress] = field(default_factory=dict)
    """Those that are kept, with their types."""
    outlived: bool = False
    """Whether the first thread ends alone, and the others go on."""
    kept: set[tuple[Array, int, int]] = field(default_factory=set)
    claims: list[set[int]] = field(default_factory=list)
    places: dict[Array, set[int]] = field(default_factory=dict)
    cells: dict[Array, set[tuple[int, int]]] = field(default_factory=dict)
    outside: dict[Array, set[tuple[int, int]]] = field(default_factory=dict)
    parts: Parts = field(default_factory=dict)
    needed: frozenset[int] | None = None


MOST_BEHIND = 64
"""The bytes behind an object that it is known to be outside to access; what is further away is of no object."""


class Pointers(NamedTuple):
    """How far addresses from memory are moved, and computed places whose addresses are kept, by their arrays."""

    moves: set[int]
    whole: dict[Array, set[tuple[int, int, int]]]
