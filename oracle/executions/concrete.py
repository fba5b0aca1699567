"""A thread of a litmus test that runs with the values that its reads have, as an execution graph grows.

Example: after ``r0 = load x`` has read 1, ``store y, r0`` writes 1, and ``beq r0, 0, LC0`` falls through. The steps are
those of ``oracle.executions.steps``, whose unknown values are replaced as soon as they are read.

A jump that is idle (``oracle.executions.spins``) is not taken where its round has written nothing new: each update of
it wrote what it had read. The thread is *blocked* there, for each such round can be left out of an execution, and
whoever reads what it wrote may read what it read. Some jumps are taken once, so that one round is seen that could be
left out.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from corpus.errors import InputError
from corpus.litmus.test import LitmusTest
from oracle.executions.events import Apply, Event, EventKind, Expression, Read
from oracle.executions.steps import RunState, TooManyError, Walker
from oracle.executions.values import Value, calculate

MOST_SILENT = 1 << 14
"""The limit of steps that a thread takes between two events."""


class ConcreteWalker(Walker):
    """Steps without a bound on loops, but for idle jumps, which are not taken as long as it is ``blocking``."""

    def __init__(self, test: LitmusTest, number: int, idle: frozenset[int]) -> None:
        super().__init__(test, number, 0)
        self._idle = idle
        self.targets = frozenset(self.flow.backward[jump] for jump in idle)
        self.blocking = True

    def most(self, pc: int) -> int:
        """None for an idle jump, as long as it is ``blocking``; else as many as there are."""
        return 0 if self.blocking and pc in self._idle else sys.maxsize

    def runs(self, state: RunState, begun: int) -> tuple[RunState, ...]:
        """The runs after one more instruction, before which there were ``begun`` events; none at a jump that is not
        taken. Raises ``TooManyError`` where a value has no meaning, with which no execution goes on.
        """
        try:
            return tuple(run for run in self.step(state) if not _stays(run.events[begun:]))
        except InputError as error:
            raise TooManyError(error.message, error.path) from error


@dataclass(frozen=True, slots=True)
class ThreadSituation:
    """A thread between two events: the runs that its next step may be, whose last events are new.

    ``begun``: how many events there were before. No ``runs``: it has ``ended``, or it is blocked at a ``jump``, and
    ``round`` is the number of the first event of the round that it would repeat. ``rounds``: the number of events when
    each target of an idle jump was last passed. ``again``: the jumps that were taken though they might have blocked.
    """

    runs: tuple[RunState, ...]
    begun: int
    rounds: Mapping[int, int]
    registers: Mapping[str, Value]
    again: frozenset[int] = frozenset()
    ended: bool = False
    jump: int | None = None
    round: int | None = None

    @property
    def next(self) -> Event:
        """The next event, of which all runs have the kind and the location in common."""
        return self.runs[0].events[self.begun]


@dataclass(frozen=True, slots=True)
class Happened:
    """An event that a thread has done, what it read or wrote, and how the thread goes on.

    ``stamp``: when it was added to the graph. ``clock``: of each thread, how many of its events come before it in
    ``po | rf``, with the event itself. ``pending``: the events of the same instruction that come next. ``chosen``: the
    number of the run that was chosen.
    """

    event: Event
    value: Value | None
    stamp: int
    clock: tuple[int, ...]
    run: RunState
    pending: tuple[Event, ...]
    rounds: Mapping[int, int]
    again: frozenset[int]
    chosen: int = 0
    _known: list[ThreadSituation] = field(default_factory=list, compare=False)


class ConcreteThread:
    """A thread of a test, run with values. ``once``: the idle jumps that are taken once."""

    def __init__(self, test: LitmusTest, number: int, idle: frozenset[int], once: frozenset[int]) -> None:
        self._walker = ConcreteWalker(test, number, idle)
        self._once = once
        self._start = self._advanced(self._walker.start(), {}, frozenset(), ())

    def after(self, done: Sequence[Happened]) -> ThreadSituation:
        """The situation of the thread after some events, the last of which has no pending ones.

        Raises ``TooManyError`` where it computes without an end.
        """
        if not done:
            return self._start
        last = done[-1]
        if not last._known:
            last._known.append(self._advanced(last.run, last.rounds, last.again, done))
        return last._known[0]

    def _advanced(
        self, state: RunState, rounds: Mapping[int, int], again: frozenset[int], done: Sequence[Happened]
    ) -> ThreadSituation:
        walker, begun = self._walker, len(state.events)
        for _ in range(MOST_SILENT):
            pc = state.pc
            if pc in walker.targets:
                rounds = {**rounds, pc: begun}
            if pc == walker.flow.end:
                return ThreadSituation((), begun, rounds, known_registers(state), ended=True)
            runs = walker.runs(state, begun)
            if not runs:
                first = rounds[walker.flow.backward[pc]]
                if _writes_nothing_new(done[first:]):
                    if pc not in self._once or pc in again:
                        return ThreadSituation((), begun, rounds, {}, again, jump=pc, round=first)
                    again |= {pc}
                walker.blocking = False
                runs = walker.runs(state, begun)
                walker.blocking = True
            if len(runs[0].events) > begun:
                return ThreadSituation(runs, begun, rounds, {}, again)
            (state,) = runs
        raise TooManyError(f"P{walker.number} takes more than {MOST_SILENT} steps without an event")


def _writes_nothing_new(round: Sequence[Happened]) -> bool:
    """Whether each write of a round is of an update that wrote what it had read."""
    values = {happened.event.key: happened.value for happened in round}
    return all(
        happened.event.rmw is not None and happened.value == values.get(happened.event.rmw)
        for happened in round
        if happened.event.kind is EventKind.WRITE
    )


def _stays(events: Sequence[Event]) -> bool:
    return any(event.barrier is not None and event.barrier.stays for event in events)


def known_registers(state: RunState) -> dict[str, Value]:
    """The registers of a run whose values are known."""
    return {name: value for name, (value, _) in state.registers.items() if not isinstance(value, Read | Apply)}


def read(run: RunState, begun: int, value: Value) -> RunState | None:
    """The run whose first new event reads a value; None where it takes another value for granted."""
    key = run.events[begun].key

    def known(expression: Expression) -> Value:
        match expression:
            case Read(other) if other == key:
                return value
            case Apply(operation, left, right):
                result = calculate(operation, known(left), known(right))
                if result is None:
                    raise TooManyError(f"'{operation}' of values that are read has no meaning")
                return result
            case Read():
                raise AssertionError(expression)
        return expression

    for constraint in run.constraints:
        if calculate(constraint.operation, known(constraint.left), known(constraint.right)) != 1:
            return None
    registers = {
        name: (known(held), sources) if isinstance(held, Read | Apply) else (held, sources)
        for name, (held, sources) in run.registers.items()
    }
    events = tuple(
        replace(event, value=known(event.value)) if number > begun and isinstance(event.value, Read | Apply) else event
        for number, event in enumerate(run.events)
    )
    return replace(run, constraints=(), registers=registers, events=events)
