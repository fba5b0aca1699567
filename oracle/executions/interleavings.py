"""The interleavings of a program that synchronises: its states, and the steps between them.

Example: two threads take a lock, add to a counter and give the lock back. There are some twenty states, however often
they do so in turn, and an execution is a way through them.

Under RC11 a program whose accesses are ordered has no executions but interleavings (Lahav et al. 2017, Theorem 4). That
is asked of each step here. Take an execution G of the program that is none, and the least beginning of it that is none:
an interleaving, and one more event e. Then e comes before an event that is there, in ``co`` or ``fr``. So e is

- a read of a write that has been overwritten, though its thread has *seen* none of what came after: that write is in
  ``stale``. Where reading it is *idle*, for the thread only waits, the read is left out of G
  (``oracle.executions.spins``), so it is not e;
- a write of no update, and its thread has not seen the last write;
- a write of an update, and its thread has not seen the last write that is of no update: between updates none comes.

Wherever one of these is possible, ``RacingError`` is raised. It is not raised where all accesses of the location that
are atomic are ``SC``, for ``psc`` has no cycle: each way of ``hb`` between two ``SC`` events goes through steps of
``scb`` from an access of such a location to the next event in program order. That needs that what is read happens
before the read, for all reads of the program.

Accesses that are not atomic, fences and barriers are not seen by others until there is a release. They are taken at
once, in any order: whether they race is told by who knows of which accesses (``oracle.executions.cells``). So are
accesses with which nothing conflicts that lies ahead (``oracle.executions.ahead``). Steps that are idle are not taken.
They are told apart, for they may race as well.

Under SC all accesses interleave, and none races.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from struct import pack
from typing import NamedTuple

from corpus.graphs import components
from corpus.litmus.instructions import Fence, Load, Rmw, Store
from corpus.litmus.orders import Order
from corpus.litmus.test import LitmusTest
from oracle.executions.ahead import NONE, Accesses, Ahead
from oracle.executions.cells import Cells, Message, Released, Written
from oracle.executions.clocks import ACQUIRE, RELEASE
from oracle.executions.domains import value_of
from oracle.executions.events import Event, EventKind
from oracle.executions.local import LocalThread, Outcome
from oracle.executions.steps import TooManyError
from oracle.executions.values import Value

MOST_STEPS = 300_000
"""The limit of steps that are taken from all states together."""

_LONGEST = 1 << 14
"""The limit of the steps that are taken at once."""


class RacingError(TooManyError):
    """The error for a program with executions that are no interleavings, as far as is known."""


class _SeenError(Exception):
    """The error for a location of which it matters who has seen its last write."""

    def __init__(self, location: str) -> None:
        super().__init__(location)
        self.location = location


class ThreadStep(NamedTuple):
    """What a thread does: its outcome, what it reads or writes over if it accesses memory, and whether it races.
    ``stale``: what it reads has been overwritten.
    """

    thread: int
    outcome: Outcome
    before: Written | None
    races: bool
    stale: bool = False

    @property
    def fails(self) -> bool:
        """Whether it goes on by failing spuriously."""
        return self.outcome.events[0].spurious and not self.outcome.idle

    @property
    def reads(self) -> bool:
        """Whether it reads."""
        return self.outcome.events[0].kind is EventKind.READ


class GlobalState(NamedTuple):
    """The states of threads, cells by the places of their locations, and the barriers that a thread has arrived at, and
    the threads that others may have seen something of, as bits.
    """

    threads: tuple[int, ...]
    cells: tuple[int, ...]
    arrived: int
    begun: int


@dataclass(frozen=True, slots=True)
class Blocked:
    """A state in which a thread waits, or none can step: the threads that ``spin``, each with its idle step, those that
    ``wait`` at a barrier, those that have ``ended``, and those that have ``begun``, as bits.
    """

    spin: Mapping[int, ThreadStep]
    wait: int
    ended: int
    begun: int


@dataclass(frozen=True, slots=True)
class StateCycle:
    """States that lead to each other. ``moves``: for each thread that steps among them, or waits in one of them and may
    go on to do so, a step: the state, the state that follows, and the steps. Others ``wait`` at a barrier or have
    ``ended``, as bits, or do neither.
    """

    states: tuple[int, ...]
    moves: Mapping[int, tuple[int, int, tuple[int, ...]]]
    wait: int
    ended: int


class Interleavings:
    """The states of a test, by number, of which 0 is the first.

    ``following``: for each state those that follow, each with the steps that lead there. ``aside``: the steps that a
    state may take and be as before. ``parents``: for each state one that it follows, and the steps. ``last``: the
    states in which none can step, and a state of a cycle for each way in which others have ended there. ``cycles``:
    states among which threads may go round for ever. ``blocked``: states in which threads wait, one of each kind.
    ``writers``: a write for each of those that are told apart. ``arrives``: threads arrive at barriers.
    """

    def __init__(self, test: LitmusTest, weak: bool, apart: frozenset[str], most: int = MOST_STEPS) -> None:
        """``weak``: under RC11, and not SC. ``apart``: the locations of which it is told who has written
        what may be read there.

        Raises ``RacingError`` where executions are not known to be interleavings, and ``TooManyError`` where there are
        too many states.
        """
        self._test, self._weak, self._apart, self._most = test, weak, apart, most
        self.threads = [LocalThread(test, number) for number in range(len(test.threads))]
        self.cells = Cells(len(test.threads))
        self.places = {location.name: number for number, location in enumerate(test.locations)}
        self._ahead = Ahead(test)
        codes = [thread.instructions for thread in test.threads]
        self._sequential = any(
            isinstance(ins, Load | Store | Rmw)
            and Order.SC in (ins.mode.order, ins.failure if isinstance(ins, Rmw) else None)
            for code in codes
            for ins in code
        )
        self.arrives = any(self._ahead.arrivals)
        self._barriers: dict[object, int] = {}
        self._acquires = [any(isinstance(ins, Fence) for ins in code) for code in codes]
        relaxed = (Order.RELAXED, Order.ACQUIRE)
        self._resends = [
            any(isinstance(i, Store | Rmw) and (i.mode.order in relaxed or i.mode.volatile) for i in code)
            and any(isinstance(i, Load | Store | Rmw) and i.mode.order not in (*relaxed, Order.WEAK) for i in code)
            for code in codes
        ]
        self._told = set(apart)
        self._waited: set[tuple[str, Value]] = set()
        begun = [self._ahead.accesses(thread, 0) for thread in range(len(test.threads))]
        self._access_places = {
            location.name: tuple(accesses.get(location.name, NONE).places for accesses in begun)
            for location in test.locations
        }
        while not self._whole():
            pass
        if self._exempt and (self._unordered or self._exempt & self._relaxed):
            raise RacingError("accesses that are seq_cst are not known to keep the others in order")
        self.cycles = self._cycles()
        ended = set[tuple[int | None, ...]]()
        for cycle in self.cycles:  # of which the registers are asked for that threads have ended with
            here = self._threads_at[cycle.states[0]]
            kept = tuple(state if cycle.ended >> thread & 1 else None for thread, state in enumerate(here))
            if kept not in ended:
                ended.add(kept)
                self.last[cycle.states[0]] = self._state(cycle.states[0])

    def _state(self, number: int) -> GlobalState:
        """The state of a number, made again by the steps that lead there."""
        way = [number]
        while way[-1]:
            way.append(self.parents[way[-1]][0])
        state = self._first()[0]
        for after in reversed(way[:-1]):
            state = next(next_ for _, next_ in self._steps_from(0, state, []) if self._known[_digest(next_)] == after)
        return state

    def _whole(self) -> bool:
        """Whether all states are found, and not that who has seen the last write matters of one more location."""
        self._exempt: set[str] = set()
        self._relaxed: set[str] = set()
        self._unordered = False
        self.steps: list[ThreadStep] = []
        self._numbers: dict[Hashable, int] = {}
        self.writers: dict[Hashable, Event] = {}
        self.following: list[tuple[tuple[int, tuple[int, ...]], ...]] = []
        self.aside: list[tuple[int, ...]] = []
        self.parents: list[tuple[int, tuple[int, ...]]] = []
        self.last: dict[int, GlobalState] = {}
        self.blocked: dict[Hashable, tuple[int, Blocked]] = {}
        try:
            self._explore()
        except _SeenError as error:
            self._told.add(error.location)
            return False
        return True

    def _first(self) -> tuple[GlobalState, list[int]]:
        """The first state, and the steps that are taken at once before it."""
        initial = tuple(self.cells.initial(value_of(location.initial)) for location in self._test.locations)
        start = GlobalState(tuple(thread.start for thread in self.threads), initial, 0, 0)
        for number, thread in enumerate(self.threads):
            if thread[thread.start].next is None:
                start = start._replace(cells=self.cells.ended(start.cells, number))
        return self._settled(start, [])

    def _explore(self) -> None:
        first, steps = self._first()
        known = self._known = {_digest(first): 0}
        self._threads_at = [first.threads]
        self.parents.append((0, tuple(steps)))
        waiting, count = [first], 0
        for number, state in enumerate(waiting):
            following, aside = list[tuple[int, tuple[int, ...]]](), list[int]()
            for taken, after in self._steps_from(number, state, aside):
                count += 1
                if count > self._most:
                    raise TooManyError("the states of the program are too many")
                digest = _digest(after)
                target = known.setdefault(digest, len(waiting))
                if target == len(waiting):
                    waiting.append(after)
                    self._threads_at.append(after.threads)
                    self.parents.append((number, taken))
                following.append((target, taken))
            waiting[number] = _GONE
            self.following.append(tuple(following))
            self.aside.append(tuple(aside))

    def _steps_from(
        self, number: int, state: GlobalState, aside: list[int]
    ) -> Iterator[tuple[tuple[int, ...], GlobalState]]:
        """Yield what follows a state, and note what it may do and be as before, and who waits in it."""
        spin, wait, ended, steps = dict[int, ThreadStep](), 0, 0, 0
        for thread, local in enumerate(self.threads):
            event = local[state.threads[thread]].next
            if event is None:
                ended |= 1 << thread
                continue
            if event.kind is EventKind.BARRIER:
                passed = self._passed(state, event)
                if passed is None:
                    wait |= 1 << thread
                    continue
                (outcome,) = local.outcomes(state.threads[thread], None)
                steps += 1
                done = [self._step(ThreadStep(thread, outcome, None, False))]
                yield from self._then(passed._replace(begun=state.begun | 1 << thread), thread, outcome, done)
                continue
            taken, idle = self._accesses(state, thread, event, aside)
            steps += len(taken)
            if idle is not None and not taken:
                spin[thread] = idle
            for outcome, before, races, cells in taken:
                done = [self._step(ThreadStep(thread, outcome, before, races))]
                after = state._replace(cells=cells, begun=state.begun | 1 << thread)
                yield from self._then(after, thread, outcome, done)
                if outcome.written is not None:
                    for other in self._polls(state, thread, outcome):
                        yield from self._then(
                            after,
                            thread,
                            outcome,
                            [self._step(other), self._step(ThreadStep(thread, outcome, before, True))],
                        )
        if spin or not steps:
            kind = (tuple(spin), wait, ended, state.begun)
            self.blocked.setdefault(kind, (number, Blocked(spin, wait, ended, state.begun)))
        if not steps:
            self.last[number] = state

    def _then(
        self, state: GlobalState, thread: int, outcome: Outcome, steps: list[int]
    ) -> Iterator[tuple[tuple[int, ...], GlobalState]]:
        after, steps = self._settled(self._moved(state, thread, outcome), steps)
        yield tuple(steps), after

    def _moved(self, state: GlobalState, thread: int, outcome: Outcome) -> GlobalState:
        local = self.threads[thread]
        before, after = local[state.threads[thread]], local[outcome.after]
        threads = (*state.threads[:thread], outcome.after, *state.threads[thread + 1 :])
        state = state._replace(threads=threads)
        if not self._weak:
            return state
        cells, make = state.cells, self.cells
        if after.next is None:
            cells = make.ended(cells, thread)
        ahead = self._ahead.accesses(thread, after.place)
        passed = [name for name in self._ahead.accesses(thread, before.place) if name not in ahead]
        touched = (event.location for event in outcome.events if event.location is not None)
        for name in dict.fromkeys((*passed, *touched)):
            cells = self._tidied(state, cells, name)
        return state._replace(cells=cells)

    def _tidied(self, state: GlobalState, cells: tuple[int, ...], name: str) -> tuple[int, ...]:
        """Cells without what does not matter any more of a location."""
        place, make = self.places[name], self.cells
        number, whole, waits = cells[place], NONE, True
        for thread, local in enumerate(self.threads):
            ahead = self._ahead.accesses(thread, local[state.threads[thread]].place).get(name)
            if ahead is None:
                number = make.forgotten(number, thread)
                continue
            whole |= ahead
            cell = make[number]
            others = cell.stale[thread] | cell.older[thread]
            waits = waits and all(local.waits(there, value) for value, _ in others for there in ahead.places)
        if not whole.places:
            number = make.silent(number)
        else:
            number = make.kept(number, whole.plain, whole.writes, whole.plain_writes, self._sequential)
            waits = waits and not whole.writes and name not in self._apart
            if not whole.plain and (waits or self._only_updates(name, whole, number)):
                number = make.seen(number)
        return _with(cells, place, number)

    def _only_updates(self, name: str, ahead: Accesses, number: int) -> bool:
        """Whether only updates write to a location from now on, and all threads have seen what others have written."""
        return name not in self._told and not ahead.stores and self.cells.is_based(number)

    def _settled(self, state: GlobalState, steps: list[int]) -> tuple[GlobalState, list[int]]:
        """The state after all steps that are taken at once."""
        passed, round_ = set[GlobalState](), set[int]()  # threads that go round so for ever
        going = True
        while going:
            going = False
            for thread in range(len(self.threads)):
                while thread not in round_ and (taken := self._at_once(state, thread)) is not None:
                    state, more = taken
                    steps, going = [*steps, *more], True
                    event = self.threads[thread][state.threads[thread]].next
                    if state in passed and event is not None and event.location is not None:
                        round_.add(thread)
                    passed.add(state)
                    if len(passed) > _LONGEST:
                        raise TooManyError(f"P{thread} takes too many steps that nobody sees")
        return state, steps

    def _at_once(self, state: GlobalState, thread: int) -> tuple[GlobalState, list[int]] | None:
        """The state after a thread's next step, if that may be taken at once: nothing that others do before can come to
        see it, or to be seen by it.
        """
        local, here = self.threads[thread], state.threads[thread]
        event = local[here].next
        if event is None:
            return None
        if event.location is None:
            arrives = event.barrier is not None and "ARRIVE" in event.tags
            if arrives and not state.begun >> thread & 1:  # whom it lets through knows that the thread has begun
                return None
            after = self._passed(state, event) if event.barrier is not None else self._fenced(state, thread, event)
            if after is None:
                return None
            (outcome,) = local.outcomes(here, None)
            return self._moved(after, thread, outcome), [self._step(ThreadStep(thread, outcome, None, False))]
        if not (self._weak and "ATOM" not in event.tags) and not self._is_alone(state, thread, here):
            return None
        aside = list[int]()
        taken, _ = self._accesses(state, thread, event, aside)
        if len(taken) != 1:  # it waits for what another one writes, or may fail
            return None
        ((outcome, before, races, cells),) = taken
        steps = [number for number in aside if self.steps[number].stale]
        for other in self._polls(state, thread, outcome) if outcome.written is not None else ():
            steps, races = [*steps, self._step(other)], True
        after = self._moved(state._replace(cells=cells), thread, outcome)
        return after, [*steps, self._step(ThreadStep(thread, outcome, before, races))]

    def _is_alone(self, state: GlobalState, thread: int, here: int) -> bool:
        """Whether no other thread may still do what conflicts with the next access of a thread, before that thread has
        arrived at a barrier.
        """
        local = self.threads[thread][here]
        event = local.next
        assert event is not None
        writes = len(local.runs[0].events) > 1 or any(run.events[-1].kind is EventKind.WRITE for run in local.runs)
        closed = frozenset(
            name for name in self._ahead.arrivals[thread] if not state.arrived >> self._barrier(name, True) & 1
        )
        for other, theirs in enumerate(self.threads):
            if other == thread:
                continue
            ahead = self._ahead.accesses(other, theirs[state.threads[other]].place, closed).get(event.location or "")
            if ahead is not None and (writes or ahead.writes):
                return False
        return True

    def _barrier(self, name: object, arrives: bool) -> int:
        """The number of who arrives, or waits, at a barrier."""
        return self._barriers.setdefault((name, arrives), len(self._barriers))

    def _passed(self, state: GlobalState, event: Event) -> GlobalState | None:
        """The state after a barrier; None where nobody has arrived at it yet."""
        assert event.barrier is not None
        arrives = "ARRIVE" in event.tags
        own, other = self._barrier(event.barrier.name, arrives), self._barrier(event.barrier.name, not arrives)
        if state.arrived >> own & 1:
            raise TooManyError("executions with barriers that are used again are not known to be interleavings")
        if not arrives and not state.arrived >> other & 1:
            return None
        return state._replace(arrived=state.arrived | 1 << own)

    def _fenced(self, state: GlobalState, thread: int, event: Event) -> GlobalState:
        cells, make = state.cells, self.cells
        if not self._weak:
            return state
        if ACQUIRE & event.tags:
            cells = make.learned(cells, make.received(thread), make.thread(thread))
        if RELEASE & event.tags:
            cells = make.learned(cells, make.thread(thread), make.fenced(thread))
        return state._replace(cells=cells)

    def _accesses(
        self, state: GlobalState, thread: int, event: Event, aside: list[int]
    ) -> tuple[list[tuple[Outcome, Written, bool, tuple[int, ...]]], ThreadStep | None]:
        """What a thread may do in its next access: each outcome that is not idle, what it reads or writes over, whether
        it races, and the cells after it; and an idle step, if there is one.
        """
        assert event.location is not None
        local, here = self.threads[thread], state.threads[thread]
        place = self.places[event.location]
        before = self.cells[state.cells[place]].last
        if self._weak:
            for step in self._stale(state, thread, event, place):
                aside.append(self._step(step))
        taken, idle = list[tuple[Outcome, Written, bool, tuple[int, ...]]](), None
        for outcome in local.outcomes(here, before[0] if event.kind is EventKind.READ else None):
            races, cells = self._done(state, thread, outcome, place)
            if outcome.idle:
                step = ThreadStep(thread, outcome, before, races)
                aside.append(self._step(step))
                idle = idle if idle is not None and not outcome.events[0].spurious else step
            else:
                taken.append((outcome, before, races, cells))
        return taken, idle

    def _stale(self, state: GlobalState, thread: int, event: Event, place: int) -> Iterator[ThreadStep]:
        """Yield the idle steps that read what has been overwritten.

        Raises ``RacingError`` where other steps may, or a write may come before the last one.
        """
        cell, location = self.cells[state.cells[place]], event.location or ""
        if "ATOM" not in event.tags or cell.seen >> thread & 1:
            return
        local, here = self.threads[thread], state.threads[thread]
        if event.kind is EventKind.WRITE:
            self._may_race(event, location)
            return
        for written in sorted(cell.stale[thread] | cell.older[thread], key=str):
            for outcome in local.outcomes(here, written[0]):
                if outcome.written is not None and written not in cell.older[thread]:
                    continue  # the next write is of an update, too
                if outcome.idle and outcome.written is None:
                    yield ThreadStep(thread, outcome, written, False, stale=True)
                else:
                    self._may_race(outcome.events[0], location)

    def _may_race(self, event: Event, location: str) -> None:
        if "SC" not in event.tags:
            raise RacingError("executions are not known to be interleavings")
        self._exempt.add(location)

    def _done(self, state: GlobalState, thread: int, outcome: Outcome, place: int) -> tuple[bool, tuple[int, ...]]:
        """Whether an access races, and the cells after it."""
        cells, make, races = state.cells, self.cells, False
        itself, message = make.thread(thread), Message(place)
        updates = len(outcome.events) > 1
        wrote = outcome.events[-1]
        last: Written = (outcome.written or 0, self._writer(wrote) if wrote.kind is EventKind.WRITE else None)
        for event in outcome.events:
            if not self._weak:
                if event.kind is EventKind.WRITE:
                    cells = _with(cells, place, make.overwritten(thread, last))
                continue
            plain, writes = "ATOM" not in event.tags, event.kind is EventKind.WRITE
            if not plain and "SC" not in event.tags:
                self._relaxed.add(event.location or "")
            if not writes:
                if not plain and make.is_named(message):
                    if ACQUIRE & event.tags:
                        cells = make.learned(cells, make.named(message), itself)
                    elif self._acquires[thread]:
                        cells = make.learned(cells, make.named(message), make.received(thread))
                if not outcome.idle and not plain:
                    self._unordered |= not make[cells[place]].made & itself
                races |= make.races(cells[place], thread, plain, writes)
                cells = _with(cells, place, make.read(cells[place], thread, plain))
                continue
            races |= make.races(cells[place], thread, plain, writes)
            if plain:
                if make.is_named(message):
                    cells = make.sent(cells, 0, make.named(message))
                cells = _with(cells, place, make.overwritten(thread, last))
                continue
            holders, own = itself, Released(thread, place)
            sources = make.fenced(thread) if self._acquires[thread] else 0
            if RELEASE & event.tags:
                sources |= itself
                holders |= make.named(message)
                if self._resends[thread]:
                    cells = make.learned(cells, itself, make.named(own))
                    holders |= make.named(own)
            if make.is_named(own):
                sources |= make.named(own)
            if updates and make.is_named(message):
                sources |= make.named(message)
            if sources or make.is_named(message):
                cells = make.sent(cells, sources, make.named(message))
            if updates and event.location not in self._told:
                self._check_waits(event.location or "", make[cells[place]].last[0])
            write = make.updated if updates else make.written
            cells = _with(cells, place, write(cells[place], thread, last, holders))
        return races, cells

    def _check_waits(self, location: str, value: Value) -> None:
        """Raises ``_SeenError`` where it matters whether a thread may still read a value that an update writes over."""
        if (location, value) in self._waited:
            return
        for local, places in zip(self.threads, self._access_places[location], strict=True):
            if not all(local.waits(place, value) for place in places):
                raise _SeenError(location)
        self._waited.add((location, value))

    def _writer(self, event: Event) -> tuple[object, ...]:
        """A write as far as it is told apart: by its place in the code, and where it writes."""
        if event.location not in self._apart:
            return ()
        writer = (event.thread, event.position, event.location)
        self.writers.setdefault(writer, event)
        return writer

    def _polls(self, state: GlobalState, thread: int, outcome: Outcome) -> Iterator[ThreadStep]:
        """Yield the idle steps of other threads that race with a write, if they come right before."""
        event = outcome.events[-1]
        if not self._weak:
            return
        for other, local in enumerate(self.threads):
            here = state.threads[other]
            read = local[here].next
            if other == thread or read is None or read.kind is not EventKind.READ or read.location != event.location:
                continue
            if "ATOM" in event.tags and "ATOM" in read.tags:
                continue
            before = self.cells[state.cells[self.places[event.location or ""]]].last
            idle = next((outcome for outcome in local.outcomes(here, before[0]) if outcome.idle), None)
            if idle is not None:
                yield ThreadStep(other, idle, before, True)

    def _step(self, step: ThreadStep) -> int:
        key = (step.thread, id(step.outcome), step.before, step.races, step.stale)
        number = self._numbers.setdefault(key, len(self.steps))
        if number == len(self.steps):
            self.steps.append(step)
        return number

    def _cycles(self) -> list[StateCycle]:
        """The states among which threads may go round for ever, without failing spuriously."""
        spurious = {number for number, step in enumerate(self.steps) if step.fails}
        rows = [[target for target, steps in row if spurious.isdisjoint(steps)] for row in self.following]
        found = list[StateCycle]()
        for states in components(rows):
            inside = frozenset(states)
            edges = [
                (state, target, steps)
                for state in sorted(inside)
                for target, steps in self.following[state]
                if target in inside and spurious.isdisjoint(steps)
            ]
            if edges:
                found.append(self._cycle(inside, edges))
        return found

    def _cycle(self, states: frozenset[int], edges: Sequence[tuple[int, int, tuple[int, ...]]]) -> StateCycle:
        moves: dict[int, tuple[int, int, tuple[int, ...]]] = {}
        for edge in edges:
            for step in edge[2]:
                moves.setdefault(self.steps[step].thread, edge)
        for state in sorted(states):
            for number in self.aside[state]:
                idle = self.steps[number]
                if not idle.stale and not idle.outcome.events[0].spurious:
                    moves.setdefault(idle.thread, (state, state, (number,)))
        place = self._threads_at[min(states)]
        nexts = [local[here].next for local, here in zip(self.threads, place, strict=True)]
        ended = sum(1 << thread for thread, event in enumerate(nexts) if event is None)
        at_barrier = (thread for thread, event in enumerate(nexts) if event is not None and event.barrier is not None)
        return StateCycle(tuple(sorted(states)), moves, sum(1 << t for t in at_barrier if t not in moves), ended)


_GONE = GlobalState((), (), 0, 0)


def _digest(state: GlobalState) -> bytes:
    numbers = (*state.threads, *state.cells)
    whole = pack(f"{len(numbers)}I", *numbers) + b"%d %d" % (state.arrived, state.begun)
    return blake2b(whole, digest_size=16).digest()


def _with(cells: tuple[int, ...], place: int, cell: int) -> tuple[int, ...]:
    return (*cells[:place], cell, *cells[place + 1 :])
