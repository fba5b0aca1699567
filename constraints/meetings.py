"""The meetings of threads at barriers, as clauses (``oracle.executions.barriers`` defines them).

Variables, for the barriers e, f, .. of a test
    meet(e, f)       e and f go through together; only where they may have one name and quorum
    through(e)       e is of a complete meeting
    before(e, f)     e's meeting is complete before f's; only where e and f are of threads that may meet
    same(e, f)       e and f come to one barrier: where that depends on values, a comparison that they define

A wait that is no arrival has through, and the row of meet, of the last arrival of its thread there.

Constraints
    meet is an equivalence of barriers that happen, are of different threads, come to one barrier and are gone through
    who waits and does not stay goes through; who stays does not, but somebody does at that barrier
    a meeting has as many members as its quorum says, or one of each thread that takes part
    those that are left at a barrier are too few for another meeting
    before is a strict order of meetings, total for those of one barrier; a thread comes to what follows a barrier that
    it waits at when that meeting is complete, and to that barrier again when the last meeting there is

The size is n^3 clauses, n the number of barriers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations, permutations

from constraints.circuit import Circuit, Literal
from corpus.litmus.test import LitmusTest
from oracle.executions.barriers import certain_names
from oracle.executions.events import WAIT, Event, Expression

Compare = Callable[[str, Expression, Expression], Literal]
"""A function that gives the literal that a comparison of two values holds."""


class RendezvousClauses:
    """The clauses of meetings at barriers; ``meet`` has the pairs of events that go through together, in both
    directions."""

    def __init__(
        self,
        circuit: Circuit,
        test: LitmusTest,
        events: Sequence[Event],
        executed: Sequence[Literal],
        earlier: Callable[[Event, Event], bool],
        surely: Callable[[int, int], bool],
        compare: Compare,
        for_ever: bool = False,
    ) -> None:
        """Writes the clauses for the events of a test.

        ``executed``: that each event happens; ``earlier``: whether one event of a thread is before another; ``surely``:
        whether an event happens wherever another one does.
        ``for_ever``: a thread that stays may do so at a barrier that has let nobody through.
        """
        self._for_ever = for_ever
        self._circuit, self._test, self._events, self._executed = circuit, test, events, executed
        self._earlier, self._surely, self._compare = earlier, surely, compare
        every = [index for index, event in enumerate(events) if event.barrier is not None]
        self._barriers = [index for index in every if WAIT not in events[index].tags]
        self.meet: tuple[dict[int, Literal], ...] = tuple({} for _ in events)
        if not every:
            return
        self._through = {e: circuit.var("through", e) for e in self._barriers}
        self._same = self._names()
        self.meet = self._meet()
        for e in self._barriers:
            self._goes_through(e)
        waits = {wait: self._arrivals(wait) for wait in every if WAIT in events[wait].tags}
        self._order(waits)
        for wait, arrivals in waits.items():
            self._waits_for(wait, arrivals)

    def _arrivals(self, wait: int) -> dict[int, Literal]:
        """The arrivals of its thread that a wait may wait for, each with the literal that it is the last before it."""
        event = self._events[wait]
        own = [e for e in self._barriers if self._thread(e) == event.thread and self._earlier(self._events[e], event)]
        same = {e: self._one_barrier(self._events[e], event) & self._executed[e] & self._executed[wait] for e in own}
        return {
            e: here & ~self._circuit.any_of(same[f] for f in own if self._earlier(self._events[e], self._events[f]))
            for e, here in same.items()
        }

    def _waits_for(self, wait: int, arrivals: Mapping[int, Literal]) -> None:
        circuit, arrival = self._circuit, self._events[wait].barrier
        assert arrival is not None
        through = circuit.any_of(last & self._through[e] for e, last in arrivals.items())
        circuit.require(~self._executed[wait], ~through if arrival.stays else through)
        rows: dict[int, list[Literal]] = {}
        for e, last in arrivals.items():
            for f, meet in self.meet[e].items():
                rows.setdefault(f, []).append(last & meet)
        for f, ways in rows.items():
            self.meet[wait][f] = self.meet[f][wait] = circuit.any_of(ways)

    def _thread(self, e: int) -> int:
        return self._events[e].thread

    def _names(self) -> dict[tuple[int, int], Literal]:
        """The literals that two barriers come to one, for the pairs that can."""
        same: dict[tuple[int, int], Literal] = {}
        for e, f in combinations(self._barriers, 2):
            one, other = self._events[e], self._events[f]
            if one.thread == other.thread and not (self._earlier(one, other) or self._earlier(other, one)):
                continue
            literal = self._one_barrier(one, other) & self._executed[e] & self._executed[f]
            if literal:
                same[e, f] = same[f, e] = literal
        return same

    def _one_barrier(self, one: Event, other: Event) -> Literal:
        left, right = one.barrier, other.barrier
        assert left is not None and right is not None
        places = [self._test.threads[event.thread].place for event in (one, other)]
        if left.group is not right.group or not places[0].shares(places[1], left.group):
            return self._circuit.false
        if left.quorum is None or right.quorum is None:
            if left.quorum is not right.quorum:
                return self._circuit.false
            return self._compare("eq", left.name, right.name)
        return self._compare("eq", left.name, right.name) & self._compare("eq", left.quorum, right.quorum)

    def _meet(self) -> tuple[dict[int, Literal], ...]:
        circuit, rows = self._circuit, tuple[dict[int, Literal], ...]({} for _ in self._events)
        for (e, f), same in self._same.items():
            if e < f and self._thread(e) != self._thread(f) and self._may_meet(e, f):
                meet = rows[e][f] = rows[f][e] = circuit.var("meet", e, f)
                for what in (same, self._through[e], self._through[f]):
                    circuit.require(~meet, what)
        for e, f, g in permutations(self._barriers, 3):
            if f in rows[e] and g in rows[f] and e < g:
                circuit.require(~rows[e][f], ~rows[f][g], rows[e].get(g, circuit.false))
        return rows

    def _may_meet(self, e: int, f: int) -> bool:
        """Whether two barriers of different threads, which both come to one, may go through together.

        Where all threads that come to a barrier take part in each meeting, as without a quorum, they do so with their
        first arrival in the first meeting, with their second in the second.
        """
        arrival = self._events[e].barrier
        assert arrival is not None
        if arrival.quorum is not None:
            return True
        one, other = self._ordinal(e), self._ordinal(f)
        return one is None or other is None or one == other

    def _ordinal(self, e: int) -> int | None:
        """How many arrivals of its thread at its barrier come before this one; None where that is not certain."""
        earlier = [f for f in self._barriers if self._comes_before(f, e)]
        same = [self._one_barrier(self._events[f], self._events[e]) for f in earlier]
        if not all(self._surely(f, e) for f in earlier) or any(
            literal not in (self._circuit.true, self._circuit.false) for literal in same
        ):
            return None
        return sum(literal is self._circuit.true for literal in same)

    def _comes_before(self, e: int, f: int) -> bool:
        return self._thread(e) == self._thread(f) and self._earlier(self._events[e], self._events[f])

    def _goes_through(self, e: int) -> None:
        circuit, event = self._circuit, self._events[e]
        through, here, arrival = self._through[e], self._executed[e], event.barrier
        assert arrival is not None
        circuit.require(~through, here)
        waits = "ARRIVE" not in event.tags
        if arrival.stays:
            circuit.require(~through)
            passed = (same & self._through[f] for (one, f), same in self._same.items() if one == e)
            if not self._for_ever:
                circuit.require(~here, circuit.any_of(passed))
        elif waits:
            circuit.require(~here, through)
        threads = [t for t in range(len(self._test.threads)) if t != event.thread]
        with_me = [self._any(t, lambda f: self.meet[e].get(f)) for t in threads]
        left = [self._any(t, lambda f: self._left(e, f)) for t in threads]
        stuck = here & ~through
        if not stuck:
            return
        if arrival.quorum is None:
            awaited = [self._takes_part(t, e) for t in threads]
            for taking_part, met in zip(awaited, with_me, strict=True):
                circuit.require(~through, ~taking_part, met)
            missing = (part & ~there for part, there in zip(awaited, left, strict=True))
            circuit.require(~stuck, circuit.any_of(missing))
            return
        members, others = self._counts(with_me), self._counts(left)
        for count, there in enumerate(members):
            full = self._compare("eq", arrival.quorum, count + 1)
            circuit.require(~through, ~there, full)
            circuit.require(~stuck, ~full, *others[:count])

    def _left(self, e: int, f: int) -> Literal | None:
        same = self._same.get((e, f))
        return same and same & ~self._through[f]

    def _any(self, thread: int, literal: Callable[[int], Literal | None]) -> Literal:
        found = (literal(f) for f in self._barriers if self._thread(f) == thread)
        return self._circuit.any_of(one for one in found if one is not None)

    def _takes_part(self, thread: int, e: int) -> Literal:
        """The literal that a thread is awaited at a barrier without a quorum."""
        arrival, places = self._events[e].barrier, [self._test.threads[t].place for t in (thread, self._thread(e))]
        assert arrival is not None
        if not places[0].shares(places[1], arrival.group):
            return self._circuit.false
        certain = certain_names(self._test, thread).get(arrival.group, frozenset())
        in_code = self._circuit.any_of(self._compare("eq", arrival.name, name) for name in sorted(certain, key=str))
        return in_code | self._any(thread, lambda f: self._same.get((e, f)))

    def _counts(self, literals: Sequence[Literal]) -> list[Literal]:
        """The literals that 0, 1, .. of some literals hold."""
        counts = [self._circuit.true]
        for literal in literals:
            more = [self._circuit.false, *(count & literal for count in counts)]
            counts = [(count & ~literal) | one for count, one in zip([*counts, self._circuit.false], more, strict=True)]
        return counts

    def _order(self, waits: Mapping[int, Mapping[int, Literal]]) -> None:
        circuit, barriers, through = self._circuit, self._barriers, self._through
        before = {(e, f): circuit.var("before", e, f) for e, f in permutations(barriers, 2)}
        before |= {(e, e): circuit.false for e in barriers}
        for e, f in combinations(barriers, 2):
            circuit.require(~before[e, f], ~before[f, e])
        for e, f, g in permutations(barriers, 3):
            circuit.require(~before[e, f], ~before[f, g], before[e, g])
        for e in barriers:
            for f, meet in self.meet[e].items():
                circuit.require(~meet, ~before[e, f])
                for g in barriers:
                    if g not in (e, f):
                        circuit.require(~meet, ~before[f, g], before[e, g])
                        circuit.require(~meet, ~before[g, f], before[g, e])
        onwards = {
            e: [
                f
                for f in barriers
                if self._thread(e) == self._thread(f) and self._earlier(self._events[e], self._events[f])
            ]
            for e in barriers
        }
        for e in barriers:
            if "ARRIVE" not in self._events[e].tags:
                for f in onwards[e]:
                    circuit.require(~self._executed[e], ~through[f], before[e, f])
        for wait, arrivals in waits.items():
            for e, last in arrivals.items():
                for f in onwards[e]:
                    if self._earlier(self._events[wait], self._events[f]):
                        circuit.require(~last, ~through[f], before[e, f])
        for (e, f), same in self._same.items():
            if self._thread(e) == self._thread(f):
                if f in onwards[e]:  # the thread comes again, when the first meeting is complete
                    circuit.require(~same, through[e])
                    for g in (f, *onwards[f]):
                        circuit.require(~same, ~through[g], before[e, g])
                continue
            first = before[e, f]
            if e < f:
                circuit.require(
                    ~same, ~through[e], ~through[f], self.meet[e].get(f, circuit.false), first, before[f, e]
                )
            # f comes after e's meeting, be it complete later or not at all, and what follows f in its thread does, too
            for g in onwards[f]:
                circuit.require(~same, ~first, ~through[g], before[e, g])
                circuit.require(~same, ~through[e], through[f], ~through[g], before[e, g])
