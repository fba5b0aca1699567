"""Provides the parts of litmus tests that are made from executions. These are names of locations, dependencies and
observers.

**Dependencies** survive compilers: the value read is and-ed with a high bit, which no value of a test has, and what is
left, 0, goes into the address, the data or a branch (Alglave et al. 2015, section 4.5). The bit is not the sign: not
every reader of C litmus tests knows negative numbers.

**Observers.** Where three writes or more to a location meet, its final value does not say in which order they came. A
thread of its own reads them one after the other, with a fence of the widest scope between.
"""

from __future__ import annotations

from collections.abc import Sequence

from corpus.litmus.instructions import Assign, Fence, Instruction, Load
from corpus.litmus.locations import Loc, Reg
from corpus.litmus.orders import Mode, Order, Place, Scope
from corpus.litmus.threads import Thread

HIGH_BIT = 1 << 30
"""A bit that no value of a test has set."""


def location_name(number: int) -> str:
    """Return the name of a location by its number: ``x y z a b ..``."""
    return "xyzabcdefghijklmnopqrstuvw"[number] if number < 26 else f"x{number}"


def address_name(number: int, address: int) -> str:
    """Return the name of an address of a location: the location's own name, ``x``, or that of an alias, ``x_1
    x_2 ..``.
    """
    return location_name(number) + (f"_{address}" if address else "")


def masked(target: str, register: str) -> Assign:
    """Return the instruction that sets ``target`` to 0, dependent on a register that holds a value of a test."""
    return Assign(target, "and", (Reg(register), HIGH_BIT))


STRONG = Mode(Order.RELAXED, Scope.SYS)
"""The mode in which an observer reads a location that all writers write strongly."""

WIDEST = Mode(Order.SC, Scope.SYS)
"""The fence between two reads of an observer."""


def observer(
    location: str,
    writes: int,
    mode: Mode,
    homes: Sequence[Place],
    places: Sequence[Place],
    fence: Mode = WIDEST,
) -> Thread:
    """Return a thread that reads the writes to a location, of values 1, 2, .., into ``r1``, ``r2``, ..; all but the
    last.

    ``mode``: how it reads; it must be strong where all writes are, else PTX lets it see another order. ``homes`` are
    where the writers are, ``places`` where all threads are: it is a warp of the writers' CTA, or where they have none
    in common a CTA of their GPU.
    """
    body: list[Instruction] = []
    for rank in range(1, writes):
        body += [Fence(fence)] * (rank > 1) + [Load(f"r{rank}", Loc(location), mode)]
    return Thread(tuple(body), _beside(homes, places))


def _beside(homes: Sequence[Place], places: Sequence[Place]) -> Place:
    """A place that nobody has, as near to all of ``homes`` as they are to each other."""
    one = homes[0]
    if all(one.shares(home, Scope.CTA) for home in homes):
        return one._replace(warp=1 + max(place.warp for place in places if place.shares(one, Scope.CTA)))
    gpu = one.gpu if all(one.shares(home, Scope.GPU) for home in homes) else 0
    return Place(gpu, 0, 1 + max(place.cta for place in places if place.gpu == gpu), 0)
