"""The meetings of threads at barriers: which barriers of an execution go through together.

Example: three threads come to a barrier with a quorum of two. Any two of them may meet, and the third stays.

Threads come to barriers one after the other. A barrier is a name in a group of threads (of a CTA, say). Its *meeting*
is complete when as many threads have come as its quorum says, or, without a quorum, every thread of the group whose
code has it. Then those who came go on, and the next ones to come are another meeting. A thread that arrives and does
not wait goes on at once, but does not come twice to one meeting. Barriers of one name whose quorums differ are two.

A barrier may be in halves: a thread arrives, and waits later. Its *wait* is no arrival: it goes on when the meeting
that its thread has arrived at last is complete, and waits for ever where its thread has not arrived.

A thread may stay for ever at a barrier with a quorum (``Arrival.stays``): where the barrier has let others through, and
those who stay are too few for another meeting. An execution has no end in which a barrier lets nobody through, or one
without a quorum is waited at in vain; it is not counted as an execution.

An execution chooses who meets whom. Names and quorums are values of the execution: they are compared here where they
are known, and otherwise each choice comes with the constraints on values that it assumes.

Source: PTX ISA, 9.7.13.1 (``bar``, ``barrier``). It leaves open the meaning of a test in which not all threads of a CTA
come to a barrier. There Dartagnan's published verdicts are followed: those take part whose code has it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations

from corpus.litmus.instructions import Barrier, registers_written
from corpus.litmus.locations import Reg
from corpus.litmus.orders import Place, Scope
from corpus.litmus.test import LitmusTest
from corpus.litmus.threads import unguarded
from oracle.executions.events import WAIT, Apply, Event, Expression, Read
from oracle.executions.steps import Constraint, TooManyError
from oracle.executions.values import Address, Value
from oracle.exploration import StateLimit, explore

MOST_ARRIVALS = 1 << 14
"""The limit of orders in which threads may come to barriers."""


@dataclass(frozen=True, slots=True)
class BarrierRendezvous:
    """One way for the barriers of an execution to meet: the pairs of events that go through together, in both
    directions.

    ``constraints`` is what must hold of values for it.
    """

    pairs: frozenset[tuple[int, int]] = frozenset()
    constraints: tuple[Constraint, ...] = ()


@dataclass(frozen=True, slots=True)
class _Barrier:
    """A barrier whose name and quorum are known: which group of threads it is of, and its name; -1: no such quorum."""

    group: Place
    level: Scope
    name: Expression
    quorum: int | None


def meetings(test: LitmusTest, events: Sequence[Event], for_ever: bool = False) -> tuple[BarrierRendezvous, ...]:
    """Every way in which the barriers among the events of one path through each thread meet.

    Pairs are of indices of ``events``. ``for_ever``: those that stay may do so at a barrier that has let nobody through
    (``oracle.executions.stuck``). Raises ``TooManyError`` where there are too many to list.
    """
    threads: list[list[int]] = [[] for _ in test.threads]
    for index, event in enumerate(events):
        if event.barrier is not None:
            threads[event.thread].append(index)
    if not any(threads):
        return (BarrierRendezvous(),)
    found = []
    for barriers, constraints in _resolved(test, events, [index for thread in threads for index in thread]):
        for groups in _Meeting(test, events, threads, barriers, for_ever).ways():
            every = (pair for group in groups for pair in permutations(sorted(group), 2))
            pairs = frozenset((e, f) for e, f in every if events[e].thread != events[f].thread)
            found.append(BarrierRendezvous(pairs, constraints))
    return tuple(found)


def certain_names(test: LitmusTest, thread: int) -> dict[Scope, frozenset[Value]]:
    """The names, known before anything runs, of barriers without a quorum in the code of a thread, for each level."""
    body = unguarded(test.threads[thread]).instructions
    initial = dict(test.threads[thread].registers)
    changed = {name for ins in body for name in registers_written(ins)}
    names: dict[Scope, frozenset[Value]] = {}
    for ins in body:
        if isinstance(ins, Barrier) and ins.quorum is None:
            name = ins.name
            if isinstance(name, Reg) and name.name not in changed:
                name = initial.get(name.name, 0)
            if isinstance(name, int):
                names[ins.scope] = names.get(ins.scope, frozenset()) | {name}
    return names


def _resolved(
    test: LitmusTest, events: Sequence[Event], arrivals: Sequence[int]
) -> Iterator[tuple[Mapping[int, _Barrier], tuple[Constraint, ...]]]:
    """The ways to resolve the barriers that events come to: the barrier of each event, and the constraints on values
    for it."""
    unknown: list[tuple[Expression, bool]] = []
    known: list[Expression] = []
    for index in arrivals:
        arrival = events[index].barrier
        assert arrival is not None
        for value, counts in ((arrival.name, False), (arrival.quorum, True)):
            if isinstance(value, Read | Apply):
                unknown.append((value, counts))
            elif value is not None and not counts:
                known.append(value)

    def assumed(
        values: Mapping[tuple[Expression, bool], Expression], constraints: tuple[Constraint, ...]
    ) -> Iterator[tuple[Mapping[tuple[Expression, bool], Expression], tuple[Constraint, ...]]]:
        left = next((value for value in unknown if value not in values), None)
        if left is None:
            yield values, constraints
            return
        value, counts = left
        names = [*known, *(name for (_, quorum), name in values.items() if not quorum)]
        options = range(1, len(test.threads) + 1) if counts else dict.fromkeys(names)
        for option in options:
            yield from assumed({**values, left: option}, (*constraints, Constraint("eq", value, option)))
        others = tuple(Constraint("ne", value, option) for option in options)
        yield from assumed({**values, left: -1 if counts else value}, constraints + others)

    for values, constraints in assumed({}, ()):
        barriers = {}
        for index in arrivals:
            event = events[index]
            assert event.barrier is not None
            level, quorum = event.barrier.group, event.barrier.quorum
            place = test.threads[event.thread].place
            group = Place(*place[: level.value])
            count = quorum if quorum is None else values.get((quorum, True), quorum)
            name = values.get((event.barrier.name, False), event.barrier.name)
            assert not isinstance(count, Read | Apply | Address)
            barriers[index] = _Barrier(group, level, name, count)
        yield barriers, constraints


@dataclass(frozen=True, slots=True)
class _State:
    """The state of threads on their way: the barriers that each has come to, who waits, who has come to each
    barrier's meeting."""

    come: tuple[int, ...]
    waiting: frozenset[int] = frozenset()
    there: frozenset[tuple[_Barrier, int, int]] = frozenset()
    met: frozenset[frozenset[int]] = frozenset()


class _Meeting:
    def __init__(
        self,
        test: LitmusTest,
        events: Sequence[Event],
        threads: Sequence[Sequence[int]],
        barriers: Mapping[int, _Barrier],
        for_ever: bool,
    ) -> None:
        self._for_ever = for_ever
        self._events = events
        self._threads = threads
        self._barriers = barriers
        self._awaited: dict[_Barrier, frozenset[int]] = {}
        certain = [certain_names(test, thread) for thread in range(len(threads))]
        for barrier in {barrier for barrier in barriers.values() if barrier.quorum is None}:
            self._awaited[barrier] = frozenset(
                thread
                for thread, come in enumerate(threads)
                if any(barriers[index] == barrier for index in come)
                or (
                    Place(*test.threads[thread].place[: barrier.level.value]) == barrier.group
                    and barrier.name in certain[thread].get(barrier.level, ())
                )
            )

    def ways(self) -> list[frozenset[frozenset[int]]]:
        """The meetings of every way for all threads to come to an end; a meeting is the events of those who go on."""
        error = TooManyError(f"more than {MOST_ARRIVALS} orders of arrival at barriers are too many to list")
        start = _State((0,) * len(self._threads))
        states = explore([start], self._successors, StateLimit(MOST_ARRIVALS, error))
        found = {state.met for state in states if not self._movable(state) and self._is_over(state)}
        return sorted(found, key=lambda met: sorted(map(sorted, met)))

    def _successors(self, state: _State) -> Iterator[_State]:
        movable = self._movable(state)
        # Where no quorum counts, the order of arrival does not matter.
        sure = [thread for thread in movable if self._next(state, thread).quorum is None][:1]
        for thread in sure or movable:
            after = self._come(state, thread)
            if after is not None:
                yield after

    def _movable(self, state: _State) -> list[int]:
        """The threads that may come to their next barrier."""
        return [thread for thread in range(len(self._threads)) if self._may_come(state, thread)]

    def _next(self, state: _State, thread: int) -> _Barrier:
        return self._barriers[self._threads[thread][state.come[thread]]]

    def _may_come(self, state: _State, thread: int) -> bool:
        if thread in state.waiting or state.come[thread] == len(self._threads[thread]):
            return False
        index, barrier = self._threads[thread][state.come[thread]], self._next(state, thread)
        return self._is_wait(index) or not any(other == barrier and who == thread for other, who, _ in state.there)

    def _come(self, state: _State, thread: int) -> _State | None:
        """The threads after one has come to its next barrier; None where one that stays would go on."""
        index, barrier = self._threads[thread][state.come[thread]], self._next(state, thread)
        come = tuple(count + (number == thread) for number, count in enumerate(state.come))
        if self._is_wait(index) and (passed := self._arrived(state, thread, barrier)) is not None:
            met = state.met - {passed} | {passed | {index}}
            return None if self._stays(index) else replace(state, come=come, met=met)
        there = state.there | {(barrier, thread, index)}
        waiting = state.waiting | ({thread} if self._waits(index) else frozenset())
        group = frozenset(member for member in there if member[0] == barrier)
        who = frozenset(who for _, who, event in group if not self._is_wait(event))
        complete = who >= self._awaited[barrier] if barrier.quorum is None else len(who) == barrier.quorum
        if not complete or self._is_wait(index):
            return replace(state, come=come, there=there, waiting=waiting)
        if any(self._stays(event) for _, _, event in group):
            return None
        met = state.met | {frozenset(event for _, _, event in group)}
        freed = {member for _, member, event in group if self._waits(event)}
        return _State(come, waiting - freed, there - group, met)

    def _arrived(self, state: _State, thread: int, barrier: _Barrier) -> frozenset[int] | None:
        """The complete meeting that a thread has arrived at last at a barrier; None where that one is not complete."""
        before = self._threads[thread][: state.come[thread]]
        arrivals = [e for e in before if self._barriers[e] == barrier and not self._is_wait(e)]
        return next((group for group in state.met if arrivals and arrivals[-1] in group), None)

    def _is_wait(self, index: int) -> bool:
        return WAIT in self._events[index].tags

    def _waits(self, index: int) -> bool:
        return "ARRIVE" not in self._events[index].tags

    def _stays(self, index: int) -> bool:
        arrival = self._events[index].barrier
        assert arrival is not None
        return arrival.stays

    def _is_over(self, state: _State) -> bool:
        """Whether all threads have ended, but for those that stay at a barrier that has let others through."""
        if any(count < len(come) for count, come in zip(state.come, self._threads, strict=True)):
            return False
        passed = {self._barriers[index] for group in state.met for index in group}
        return all(
            self._stays(index) and (self._for_ever or barrier in passed)
            for barrier, _, index in state.there
            if self._waits(index)
        )
