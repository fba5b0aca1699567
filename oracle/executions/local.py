"""A thread between two events: where it is, and what the registers hold that it may still read.

Example: a thread at ``r0 = load x`` in a loop that waits for 1. Whatever it has read there before, it is in the same
state, for ``r0`` is written again before it is read. So reading 0 leads from the state to itself: that is *idle*.

States are numbers, and what an event leads to is computed once for each state and value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from corpus.litmus.instructions import registers_read, registers_written
from corpus.litmus.test import LitmusTest
from oracle.executions.concrete import MOST_SILENT, ConcreteWalker, known_registers, read
from oracle.executions.events import Apply, Event, EventKind, Read
from oracle.executions.steps import RunState, TooManyError
from oracle.executions.values import Value


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a thread may do next: the ``events``, two of an update, and the number of the state ``after`` them.

    ``chosen``: the number of the run, of those that the step may be. ``written``: the value, where it writes. ``idle``:
    it leads to the same state, and leaves memory as it is.
    """

    chosen: int
    events: tuple[Event, ...]
    after: int
    written: Value | None
    idle: bool


@dataclass(frozen=True, slots=True)
class LocalState:
    """A state of a thread: the ``place`` in its code, and the runs that its next step may be, none at its end.
    ``registers`` are known ones.
    """

    place: int
    runs: tuple[RunState, ...]
    registers: Mapping[str, Value]

    @property
    def next(self) -> Event | None:
        """The next event, of which all runs have the kind and the location in common; None at the end."""
        return self.runs[0].events[0] if self.runs else None


class LocalThread:
    """The states of a thread of a test. ``start`` is the number of the first one."""

    def __init__(self, test: LitmusTest, number: int) -> None:
        self._walker = ConcreteWalker(test, number, frozenset())
        self._numbers: dict[tuple[int, tuple[tuple[str, Value], ...]], int] = {}
        self._states: list[LocalState] = []
        self._outcomes: dict[tuple[int, Value | None], tuple[Outcome, ...]] = {}
        self._waits: dict[tuple[int, Value], bool] = {}
        self.start = self._settled(self._walker.start())

    def __getitem__(self, state: int) -> LocalState:
        """The state of a number."""
        return self._states[state]

    def outcomes(self, state: int, value: Value | None) -> tuple[Outcome, ...]:
        """What the next event of a state leads to: a value that it reads, if it is a read.

        Raises ``TooManyError`` where the thread computes without an end, or without a meaning.
        """
        known = self._outcomes.get((state, value))
        if known is None:
            known = self._outcomes[state, value] = tuple(self._led(state, value))
        return known

    def _led(self, state: int, value: Value | None) -> list[Outcome]:
        found = []
        for chosen, run in enumerate(self._states[state].runs):
            reads = run.events[0].kind is EventKind.READ
            done = run
            if reads:
                assert value is not None
                after = read(run, 0, value)
                if after is None:
                    continue
                done = after
            written = next((event.value for event in done.events if event.kind is EventKind.WRITE), None)
            assert not isinstance(written, Read | Apply)
            follows = self._settled(done)
            idle = follows == state and reads and written in (None, value)
            found.append(Outcome(chosen, done.events, follows, written, idle))
        return found

    def waits(self, place: int, value: Value) -> bool:
        """Whether an access at a place writes, or is idle, where it reads a value, whatever the registers hold."""
        known = self._waits.get((place, value))
        if known is None:
            known = self._waits[place, value] = self._is_wait(place, value)
        return known

    def _is_wait(self, place: int, value: Value) -> bool:
        flow = self._walker.flow
        if registers_read(flow.code[place]):
            return False
        for run in self._walker.runs(RunState(place), 0):
            done = read(run, 0, value)
            if done is None or any(event.kind is EventKind.WRITE for event in done.events):
                continue
            written = {*registers_written(flow.code[place])}
            for _ in range(MOST_SILENT):
                if done.pc == place:
                    break
                if done.pc == flow.end or not written.issuperset(registers_read(flow.code[done.pc])):
                    return False
                written.update(registers_written(flow.code[done.pc]))
                runs = self._walker.runs(replace(done, events=()), 0)
                if len(runs) != 1 or runs[0].events:
                    return False
                (done,) = runs
            if done.pc != place or not written.isdisjoint(flow.live[place]):
                return False
        return True

    def _settled(self, state: RunState) -> int:
        """The number of the state that a thread comes to before its next event."""
        walker, silent = self._walker, 0
        while True:
            state = self._plain(state)
            if state.pc == walker.flow.end:
                runs: tuple[RunState, ...] = ()
                break
            runs = walker.runs(state, 0)
            if runs[0].events:
                break
            (state,) = runs
            silent += 1
            if silent > MOST_SILENT:
                raise TooManyError(f"P{walker.number} takes more than {MOST_SILENT} steps without an event")
        registers = known_registers(state)
        key = (state.pc, tuple(sorted(registers.items(), key=lambda item: item[0])))
        number = self._numbers.setdefault(key, len(self._states))
        if number == len(self._states):
            self._states.append(LocalState(state.pc, runs, registers))
        return number

    def _plain(self, state: RunState) -> RunState:
        """A state without its past: the registers that may be read, and that hold another value than 0."""
        live = self._walker.flow.live[state.pc]
        kept = {
            name: (value, frozenset[tuple[int, ...]]())
            for name, (value, _) in state.registers.items()
            if name in live and value != 0
        }
        return RunState(state.pc, kept)
