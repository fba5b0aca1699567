"""Executions that never end: whether a program may hang under a consistency model and a fairness model.

Worked example: P0 spins until x is not 0, and P1 writes 1 to x, under sequential consistency.

>>> from corpus.dialects.registry import parse_litmus
>>> from oracle.cat.syntax import shipped_models
>>> from oracle.consistency import load_model
>>> from oracle.progress.models import fair, unfair
>>> test = parse_litmus('''PTX spin
... { x=0; }
... P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;
... LC0:           | st.weak x, 1   ;
... ld.weak r0, x  |                ;
... beq r0, 0, LC0 |                ;
... exists (0 == 0)
... ''')
>>> sc = load_model(shipped_models()["sc"])

A scheduler that promises nothing may leave P1 before its write. Then P0 reads the initial value for ever:

>>> [str(ending) for ending in find_hang(test, unfair, sc).hang.endings]
['spins', 'left']

A fair scheduler runs P1. Its write becomes the last one in coherence order, so P0 cannot read 0 for ever:

>>> print(find_hang(test, fair, sc).hang)
None

An infinite execution is shown by a finite one, a *hang*. It is an execution of the unrolled program in which each
thread

- has *ended*,
- is *left*: it has stopped somewhere, for the scheduler does not run it any more,
- *waits* at a barrier that does not let it through (``oracle.executions.barriers``),
- or is *stuck*: its run ends with a round that it goes for ever, from a place in the code back to that place, with
  equal values in the registers that are read again.

Some thread is stuck; or some thread waits and none is left, for if all threads that have not ended wait, nobody runs.

Scheduler: the promise of a progress model is a function of two masks of threads. One mask has the threads with steps to
take, which have not ended and do not wait. The other has the threads that have taken a step. At the end of a hang both
masks stay as they are, and the promise holds there: no thread that is promised execution is left, and of no set of
threads of which some thread is promised execution are all left (``oracle.promises``). This is weak
fairness, a promised thread steps again and again (Sorensen et al., *Specifying and Testing GPU Workgroup Progress
Models*, OOPSLA 2021, 2.2). Fairness within a workgroup is not told apart from fairness over all of them: threads are
ordered by number.

Memory: every write becomes visible in the end (Lahav et al., *Making Weak Memory Models Fair*, OOPSLA 2021: each write
has finitely many predecessors in ``co`` and in ``fr``). Consider a location that is read for ever and is not written
for ever. What is read from it for ever is a *co-maximal* write, of which there may be several where coherence is
partial.

Rounds are of two kinds, and so are the conditions under which a hang goes on for ever:

- *spin*: the round neither writes nor is at a barrier, and no round writes what it reads. The hang has this round once,
  and each of its reads reads a co-maximal write. More such rounds add reads from which nothing leads to any other
  thread: no acyclic relation gets a cycle. So the infinite execution is allowed if the hang is.
- *cycle*: every other round. The hang has it twice, by one way through the code and with equal values; the rounds of
  several threads belong together. All later rounds are as the second one is. ``rf``, ``co`` and the order of
  ``fence.sc`` are within the second round as within the first. Where the second round reads what rounds write, it reads
  a write of the first round or of the second; its other reads read co-maximal writes. What rounds write comes in ``co``
  after all other writes to its location, and the first round's writes come before the second's. Nobody else reads what
  the second round writes. Then base relations lead from each round to itself and later ones alone, never back, and
  every later round has the relations of the second. So no cycle appears that the hang does not have already. Compare
  the infix and suffix of Dartagnan (Haas et al., and its ``NonTerminationEncoder``), of which the case of two rounds is
  taken.

Assumptions: models forbid executions by cycles of ``po``, ``rf``, ``co``, ``fr`` and of relations made of these, and a
model that allows an execution allows every beginning of it.

Gaps, which are hangs that are not found: rounds of several threads that are not in step, so that at one location one
thread is a round ahead and at another location another thread is; weak writes in rounds that a partial coherence would
leave unordered for ever; barriers within cycles whose partners are not in step. Every hang that is found is one.

Bound: each backward jump is taken at most ``unroll`` times, and at least once, to find a round. Where every loop only
waits (``oracle.executions.spins``) one round is enough: rounds before the last can be left out of a hang as they can be
left out of any execution.

A weak compare-and-swap fails spuriously finitely often: no round has such a failure (C++ [atomics.types.operations]
recommends that it not consistently fail where the value is as expected and nobody changes the object).

Strong fairness (a step that is possible again and again is taken again and again) forbids some hangs, livelocks. It
forbids none that is *steady*: all writes of the rounds to a location write one value, so that memory does not change
and every thread can do nothing but what it does. Which other livelocks it allows is not decided here. If there are
several co-maximal writes, memory chooses which of them is read, and the scheduler does not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import combinations, product
from math import prod

from corpus.litmus.instructions import Barrier, Fence, Label, Load, Rmw, Store
from corpus.litmus.propositions import And, Condition, Quantifier
from corpus.litmus.test import LitmusTest
from oracle.cat.algebra import Relation
from oracle.cat.interpreter import Model
from oracle.executions.bounds import UNROLL
from oracle.executions.candidates import CandidateBatch, Excluded, candidates
from oracle.executions.events import Apply, Event, EventKind, Expression, Read
from oracle.executions.judge import only_waits, passing_checks
from oracle.executions.steps import Constraint, RunState, TooManyError, Walker
from oracle.executions.threads import MOST_PATHS, Path, Paths, unroll_threads
from oracle.executions.valuations import compared, evaluate
from oracle.executions.values import Value
from oracle.executions.witness import CandidateExecution, execution_of
from oracle.exploration import explore_runs
from oracle.promises import Promise, promised_sets

MOST_HANGS = 1 << 14
"""The limit of combinations of the threads' runs; with more, a test is for a solver."""


class ThreadEnding(StrEnum):
    """The ways in which the run of a thread ends in a hang."""

    ENDED = "ended"
    LEFT = "left"
    WAITS = "waits"
    SPINS = "spins"
    CYCLES = "cycles"


@dataclass(frozen=True, slots=True)
class ThreadRun:
    """A run of one thread in a hang.

    ``rounds``: the ranges of its events that are rounds which it goes for ever: none, one or two. ``stepped``: it has
    done an instruction.
    """

    path: Path
    ending: ThreadEnding
    stepped: bool
    rounds: tuple[range, ...] = ()

    @property
    def is_stuck(self) -> bool:
        """Whether the thread goes round a loop for ever."""
        return bool(self.rounds)

    @property
    def writes(self) -> frozenset[str | None]:
        """The locations that the rounds of the thread write."""
        return frozenset(event.location for event in self._round if event.kind is EventKind.WRITE)

    @property
    def reads(self) -> frozenset[str | None]:
        """The locations that the rounds of the thread read."""
        return frozenset(event.location for event in self._round if event.kind is EventKind.READ)

    @property
    def _round(self) -> tuple[Event, ...]:
        return self.path.events[self.rounds[0].start : self.rounds[0].stop] if self.rounds else ()


@dataclass(frozen=True)
class Hang:
    """A hang: an execution, how each thread's run ends in it, and the keys of the events of each thread's rounds."""

    execution: CandidateExecution
    endings: tuple[ThreadEnding, ...]
    rounds: tuple[tuple[frozenset[tuple[int, ...]], ...], ...]

    @property
    def steady(self) -> bool:
        """Whether each location is always written with one value, so that strong fairness does not forbid the hang."""
        last = frozenset[tuple[int, ...]]().union(*(parts[-1] for parts in self.rounds if parts))
        written: dict[str | None, set[Value | None]] = {}
        for event, value in zip(self.execution.events, self.execution.values, strict=True):
            if event.key in last and event.kind is EventKind.WRITE:
                written.setdefault(event.location, set()).add(value)
        return all(len(values) == 1 for values in written.values())


@dataclass(frozen=True, slots=True)
class Hanging:
    """The answer whether a program may hang.

    ``hang`` is a hang if there is one, a steady one if there is one of these. ``bounded``: loops were cut;
    ``provisional``: so that there may be a hang beyond.
    """

    hang: Hang | None
    bounded: bool
    provisional: bool


_ANY = Condition(Quantifier.EXISTS, And(()))


def unasked(test: LitmusTest) -> LitmusTest:
    """The test without its question: a hang has no final state, so neither condition nor filter apply to it."""
    return replace(test, condition=_ANY)


def find_hang(test: LitmusTest, promise: Promise, model: Model, unroll: int = UNROLL, steady: bool = False) -> Hanging:
    """Whether a program may hang under a promise and a model, by listing executions; ``steady``: look for a steady
    hang.

    Raises ``InputError`` where an address is no location of the test, or the model says nothing of the test, and
    ``TooManyError`` where there are too many executions.
    """
    test, unroll = unasked(test), max(1, unroll)
    threads = unroll_threads(test, unroll)
    found: Hang | None = None
    for ways in _together([ways_through(test, number, unroll) for number in range(len(test.threads))], promise):
        runs = [Paths((way.path,)) for way in ways]
        for batch in candidates(test, runs, model, excluded=_excluded(ways), for_ever=True):
            rounds = _Rounds(ways, batch)
            hanging = passing_checks(batch.valid & rounds.repeat(), model.judge(batch.base))
            still = hanging & rounds.steady()
            if still or (hanging and found is None):
                found = _hang(test, ways, batch, _lowest(still or hanging))
            if found is not None and (found.steady or not steady):
                return _hanging(test, found, threads, model)
    return _hanging(test, found, threads, model)


def only_as(test: LitmusTest, model: Model, other: Model, unroll: int = UNROLL) -> bool:
    """Whether another model allows every execution of a program that a model allows, ended or not, by listing
    executions.

    The other model has a total coherence order and chooses no orders. Raises ``InputError`` where an address is no
    location of the test, or a model says nothing of the test, and ``TooManyError`` where there are too many executions.
    """
    test, unroll = unasked(test), max(1, unroll)
    runs = [
        [way for way in ways_through(test, number, unroll) if not way.is_stuck] for number in range(len(test.threads))
    ]
    if prod(map(len, runs)) > MOST_HANGS:
        raise TooManyError(f"more than {MOST_HANGS} combinations of runs are too many to list")
    threads = [Paths(tuple(way.path for way in ways)) for ways in runs]
    for batch in candidates(test, threads, model, for_ever=True):
        allowed = passing_checks(batch.valid, model.judge(batch.base))
        if allowed & ~(_ordered(batch) & passing_checks(allowed, other.judge(batch.base))):
            return False
    return True


def _ordered(batch: CandidateBatch) -> int:
    """The candidates of a batch in which all writes to a location are ordered."""
    base, co = batch.base, batch.base.choices.co
    mask = base.algebra.true
    writes = [number for number, event in enumerate(base.events) if event.kind is EventKind.WRITE]
    for one, two in combinations(writes, 2):
        if base.events[one].location == base.events[two].location:
            mask &= co[one].get(two, 0) | co[two].get(one, 0)
    return mask


def _hanging(test: LitmusTest, found: Hang | None, threads: Sequence[Paths], model: Model) -> Hanging:
    bounded = any(thread.bounded for thread in threads)
    return Hanging(found, bounded, found is None and not only_waits(test, threads, model))


def _lowest(mask: int) -> int:
    return (mask & -mask).bit_length() - 1


def _together(ways: Sequence[Sequence[ThreadRun]], promise: Promise) -> Iterator[tuple[ThreadRun, ...]]:
    """One way through each thread, such that some thread never ends and the promise is kept."""
    looked_at = 0
    for chosen in product(*ways):
        if not _is_hanging(chosen) or not _is_kept(chosen, promise):
            continue
        written = frozenset[str | None]().union(*(way.writes for way in chosen))
        if any(way.ending is ThreadEnding.SPINS and way.reads & written for way in chosen):
            continue
        looked_at += 1
        if looked_at > MOST_HANGS:
            raise TooManyError(f"more than {MOST_HANGS} combinations of runs that may hang are too many to list")
        yield chosen


def _is_hanging(ways: Sequence[ThreadRun]) -> bool:
    if any(way.is_stuck for way in ways):
        return True
    return bool(_those(ways, ThreadEnding.WAITS)) and not _those(ways, ThreadEnding.LEFT)


def _is_kept(ways: Sequence[ThreadRun], promise: Promise) -> bool:
    """Whether of each set of threads that is promised execution for ever some thread is not left."""
    stepped = sum(1 << number for number, way in enumerate(ways) if way.stepped)
    running = _those(ways, ThreadEnding.LEFT, ThreadEnding.SPINS, ThreadEnding.CYCLES)
    left = _those(ways, ThreadEnding.LEFT)
    return all(threads & ~left for threads in promised_sets(promise, running, stepped))


def _those(ways: Sequence[ThreadRun], *endings: ThreadEnding) -> int:
    return sum(1 << number for number, way in enumerate(ways) if way.ending in endings)


_StuckRun = tuple[RunState, tuple[RunState, ...], bool, bool]
"""A state with those before it, whether an instruction has been done, and whether anything is new in it."""


def ways_through(test: LitmusTest, number: int, unroll: int) -> list[ThreadRun]:
    """The runs of a thread that may be part of a hang, each backward jump taken at most ``unroll`` times."""
    walker = Walker(test, number, unroll, for_ever=True)
    flow = walker.flow
    targets = set(flow.backward.values())
    found: list[ThreadRun] = []

    def following(run: _StuckRun) -> Iterator[_StuckRun]:
        state, trail, stepped, _ = run
        if state.pc < flow.end:
            steps = stepped or not isinstance(flow.code[state.pc], Label)
            for after in walker.step(state):
                yield after, (*trail, state), steps, steps is not stepped or len(after.events) > len(state.events)

    begun: _StuckRun = (walker.start(), (), False, True)
    for state, trail, stepped, new in explore_runs([begun], following):
        path = Path(state.events, state.constraints, {})
        if state.pc == flow.end:
            waits = bool(state.events) and stays(state.events[-1])
            found.append(ThreadRun(path, ThreadEnding.WAITS if waits else ThreadEnding.ENDED, stepped))
            continue
        if new:
            found.append(ThreadRun(path, ThreadEnding.LEFT, stepped))
        for start, first in enumerate(trail):
            if first.pc == state.pc:
                found += _stuck(walker, trail, start, state, targets)
        if len(found) > MOST_PATHS:
            raise TooManyError(f"P{number} has more than {MOST_PATHS} runs that may be part of a hang")
    return found


def stays(event: Event) -> bool:
    """Whether an event is the arrival of a thread at a barrier where it waits for ever."""
    return event.barrier is not None and event.barrier.stays


def _stuck(
    walker: Walker, trail: Sequence[RunState], start: int, state: RunState, targets: set[int]
) -> Iterator[ThreadRun]:
    """The runs that go for ever from one place to where they are now, or did so twice."""
    first = trail[start]
    events, live = state.events, sorted(walker.flow.live[state.pc])
    begin, end = len(first.events), len(state.events)
    if any(event.spurious for event in events[begin:]):
        return
    path = Path(events, state.constraints, {})
    same = _same(first, state, live)
    idle = all(event.kind in (EventKind.READ, EventKind.FENCE) for event in events[begin:end])
    if state.pc in targets and idle and same is not None:
        constraints = (*state.constraints, *same)
        yield ThreadRun(replace(path, constraints=constraints), ThreadEnding.SPINS, True, (range(begin, end),))
    if not isinstance(walker.flow.code[state.pc], EVENTFUL):
        return
    for middle in range(start + 1, len(trail)):
        if trail[middle].pc != state.pc:
            continue
        passed = len(trail[middle].events)
        once, again = events[begin:passed], events[passed:end]
        code = [before.pc for before in trail]
        if code[start:middle] != code[middle:] or [_what(e) for e in once] != [_what(e) for e in again]:
            continue
        same = _same(first, trail[middle], live)
        if same is not None:
            reads = [
                Constraint("eq", Read(one.key), Read(other.key))
                for one, other in zip(once, again, strict=True)
                if one.kind is EventKind.READ
            ]
            held = (*state.constraints, *same, *reads)
            rounds = range(begin, passed), range(passed, end)
            yield ThreadRun(replace(path, constraints=held), ThreadEnding.CYCLES, True, rounds)


EVENTFUL = (Load, Store, Rmw, Fence, Barrier)
"""Instructions with events. Cycles begin at one: a round from any other place is a round from the next of these."""


def _what(event: Event) -> tuple[object, ...]:
    return event.position, event.kind, event.location, event.virtual, event.tags


def _same(one: RunState, other: RunState, names: Sequence[str]) -> list[Constraint] | None:
    """The constraints that registers have equal values in two states; None where they cannot."""
    held = []
    for name in names:
        left, right = (state.registers.get(name, (0, frozenset()))[0] for state in (one, other))
        if left != right:
            if not is_open(left) and not is_open(right):
                return None
            held.append(Constraint("eq", left, right))
    return held


def is_open(value: Expression) -> bool:
    """Whether a value depends on what is read."""
    return isinstance(value, Read | Apply)


def _excluded(ways: Sequence[ThreadRun]) -> Excluded:
    """The choices that no hang with these rounds makes, whatever else is chosen; ``_Rounds`` checks the other
    conditions."""
    time = {
        event.key: number
        for way in ways
        if way.ending is ThreadEnding.CYCLES
        for number, part in enumerate(way.rounds, 1)
        for event in way.path.events[part.start : part.stop]
    }
    written = frozenset[str | None]().union(*(way.writes for way in ways))

    def rf(write: Event, read: Event) -> bool:
        if time.get(read.key) == 2:
            return read.location in written and write.key not in time
        return time.get(write.key) == 2

    def co(one: Event, other: Event) -> bool:
        return one.location in written and time.get(one.key, 0) > time.get(other.key, 0)

    return Excluded(rf, co)


class _Rounds:
    """Which candidates of a batch go on as their rounds say."""

    def __init__(self, ways: Sequence[ThreadRun], batch: CandidateBatch) -> None:
        self._batch = batch
        base = batch.base
        self._events = base.events
        index = {event.key: number for number, event in enumerate(base.events)}
        self._spin: set[int] = set()
        self._first: list[int] = []
        self._second: list[int] = []
        for way in ways:
            rounds = [[index[event.key] for event in way.path.events[part.start : part.stop]] for part in way.rounds]
            if way.ending is ThreadEnding.SPINS:
                self._spin.update(rounds[0])
            elif way.ending is ThreadEnding.CYCLES:
                self._first += rounds[0]
                self._second += rounds[1]
        self._written = {base.events[event].location for event in self._second if self._is_write(event)}

    def _is_write(self, event: int) -> bool:
        return self._events[event].kind is EventKind.WRITE

    def repeat(self) -> int:
        """The candidates in which the rounds can be repeated for ever."""
        base, choices = self._batch.base, self._batch.base.choices
        orders = list(choices.orders.values())
        forbidden = 0
        first, second = set(self._first), set(self._second)
        for write, row in enumerate(choices.rf):
            later = 0
            for mask in choices.co[write].values():
                later |= mask
            for read, mask in row.items():
                if read in self._spin:
                    forbidden |= mask & later
                elif read not in second:
                    forbidden |= mask if write in second else 0
                elif self._events[read].location not in self._written:
                    forbidden |= mask & later
                elif write not in first and write not in second:
                    forbidden |= mask
        for one, event in enumerate(self._events):
            if event.kind is EventKind.WRITE and event.location in self._written:
                for other in self._first * (one not in first and one not in second) + self._second * (
                    one not in second
                ):
                    if self._is_write(other) and self._events[other].location == event.location:
                        forbidden |= ~choices.co[one].get(other, 0)
        relations = [choices.rf, choices.co, *orders]
        if any(event.kind is EventKind.BARRIER for event in self._events):
            syncbar = base.relation("syncbar")
            relations.append(syncbar)
            forbidden |= self._leaving(syncbar, second) | self._leaving(_turned(syncbar), second)
        for order in orders:
            forbidden |= self._leaving(order, second)
        for relation in relations:
            for one, one_again in zip(self._first, self._second, strict=True):
                for other, other_again in zip(self._first, self._second, strict=True):
                    forbidden |= relation[one].get(other, 0) ^ relation[one_again].get(other_again, 0)
        return base.algebra.true & ~forbidden

    def steady(self) -> int:
        """The candidates in which the rounds write one value to each location."""
        values, algebra = self._batch.values, self._batch.base.algebra
        writes = [self._events[event] for event in self._second if self._is_write(event)]
        mask = algebra.true
        for one, other in combinations(writes, 2):
            if one.location == other.location:
                left, right = (evaluate(event.value, values, algebra) for event in (one, other))
                mask &= compared("eq", left, right, algebra)
        return mask

    @staticmethod
    def _leaving(relation: Relation[int], events: set[int]) -> int:
        """The candidates in which a relation leads from some events to others."""
        total = 0
        for event in events:
            for other, mask in relation[event].items():
                if other not in events:
                    total |= mask
        return total


def _turned(relation: Relation[int]) -> Relation[int]:
    rows: list[dict[int, int]] = [{} for _ in relation]
    for one, row in enumerate(relation):
        for other, mask in row.items():
            rows[other][one] = mask
    return tuple(rows)


def _hang(test: LitmusTest, ways: Sequence[ThreadRun], batch: CandidateBatch, candidate: int) -> Hang:
    rounds = tuple(
        tuple(frozenset(event.key for event in way.path.events[part.start : part.stop]) for part in way.rounds)
        for way in ways
    )
    return Hang(execution_of(test, batch, candidate), tuple(way.ending for way in ways), rounds)
