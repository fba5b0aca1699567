"""What threads may still access, from a place in their code on.

Example: a thread that is created stores to ``ended`` and then arrives at a barrier; its creator waits at that barrier
and then reads ``ended``. Before the thread has arrived, nothing else of its creator's lies ahead than what comes before
the barrier. So the store may be taken at once: whatever others do first, they do not see it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from corpus.graphs import reachable
from corpus.litmus.instructions import Barrier, Load, Rmw, Store, addresses_of, operands_of
from corpus.litmus.locations import NOWHERE, Loc, Operand, element_of, physical
from corpus.litmus.orders import Order
from corpus.litmus.test import LitmusTest
from oracle.executions.flow import flow_of


@dataclass(frozen=True, slots=True)
class Accesses:
    """Accesses of a location: whether there are writes, those of no update, any that are not atomic, and such writes;
    and their places.
    """

    writes: bool = False
    stores: bool = False
    plain: bool = False
    plain_writes: bool = False
    places: tuple[int, ...] = ()

    def __or__(self, other: Accesses) -> Accesses:
        return Accesses(
            self.writes or other.writes,
            self.stores or other.stores,
            self.plain or other.plain,
            self.plain_writes or other.plain_writes,
            self.places + other.places,
        )


NONE = Accesses()


class Ahead:
    """What the threads of a test may access. ``arrivals``: the barriers that each thread arrives at."""

    def __init__(self, test: LitmusTest) -> None:
        self._flows = [flow_of(test, number) for number in range(len(test.threads))]
        self._locations = {location.name: location for location in test.locations}
        codes = [flow.code for flow in self._flows]
        values = [
            operand
            for code in codes
            for ins in code
            for operand in operands_of(ins)[len(addresses_of(ins)) :]
            if isinstance(operand, Loc)
        ]
        values += [location.initial for location in test.locations if isinstance(location.initial, Loc)]
        values += [value for thread in test.threads for _, value in thread.registers if isinstance(value, Loc)]
        bases = {element_of(value.name)[0] for value in values}
        self._anywhere = frozenset(
            physical(self._locations, name)
            for name in self._locations
            if name == NOWHERE or element_of(name)[0] in bases
        )
        self.arrivals: list[frozenset[object]] = [
            frozenset(ins.name for ins in code if isinstance(ins, Barrier) and ins.arrive) for code in codes
        ]
        self._known: dict[tuple[int, int, frozenset[object]], Mapping[str, Accesses]] = {}

    def accesses(self, thread: int, place: int, closed: frozenset[object] = frozenset()) -> Mapping[str, Accesses]:
        """What a thread may access from a place on, if it passes none of the barriers that are ``closed``."""
        known = self._known.get((thread, place, closed))
        if known is None:
            known = self._known[thread, place, closed] = self._accesses(thread, place, closed)
        return known

    def _accesses(self, thread: int, place: int, closed: frozenset[object]) -> Mapping[str, Accesses]:
        flow = self._flows[thread]

        def following(place: int) -> Collection[int]:
            ins = flow.code[place] if place < flow.end else None
            return () if isinstance(ins, Barrier) and not ins.arrive and ins.name in closed else flow.successors[place]

        found: dict[str, Accesses] = {}
        for reached in reachable([place], following):
            ins = flow.code[reached] if reached < flow.end else None
            if isinstance(ins, Load | Store | Rmw):
                writes = not isinstance(ins, Load)
                plain = ins.mode.order is Order.WEAK and not ins.mode.volatile
                access = Accesses(writes, isinstance(ins, Store), plain, plain and writes, (reached,))
                for name in self._at(ins.address):
                    found[name] = found.get(name, NONE) | access
        return found

    def _at(self, address: Operand) -> Collection[str]:
        if isinstance(address, Loc):
            return (physical(self._locations, address.name),)
        return self._anywhere
