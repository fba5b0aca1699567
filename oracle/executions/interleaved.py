"""Questions about the executions of a program that synchronises, each of which is an interleaving.

The questions are those of ``oracle.executions.grown``. Each is about a way through the states of the program
(``oracle.executions.interleavings``): about its last state, or about whether a step of some kind is on it.

Example: is there an execution in which a thread reads what nobody has written, and that comes to its end? A way is
searched from the first state to a last one in which all threads have ended, through a step that reads so.

A hang is a state in which a thread waits, whatever the others have done: those that could still step are *left*, if the
progress model lets them be. Or it is a cycle of states, among which each thread steps that can, or waits there for what
is so at some of the states. Other hangs with cycles are not known.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations

from corpus.litmus.propositions import FinalRegister, Proposition, Term
from corpus.litmus.test import LitmusTest
from oracle.cat.interpreter import Model
from oracle.executions.candidates import check_speaks, physical_location
from oracle.executions.clocks import DATA_RACE, RC11
from oracle.executions.concrete import ConcreteThread, Happened, read
from oracle.executions.events import Event, EventKind
from oracle.executions.graphs import Node, empty_graph, execution_of_graph, initial_values
from oracle.executions.grown import ONCE_BEGUN, checked, keeps_promise
from oracle.executions.interleavings import MOST_STEPS, Blocked, GlobalState, Interleavings, StateCycle, ThreadStep
from oracle.executions.stateless import check_grows, grows, joined
from oracle.executions.steps import RunState, TooManyError
from oracle.executions.stuck import Hang, ThreadEnding
from oracle.executions.values import Value, holds
from oracle.executions.witness import CandidateExecution
from oracle.promises import Promise


@dataclass(frozen=True, slots=True)
class WayQuestion:
    """What is asked of a way: that its last state is one of ``ends``, or that one of ``steps`` is on it; ``negated``:
    that it is not so.
    """

    ends: frozenset[int] | None = None
    steps: frozenset[int] = frozenset()
    negated: bool = False

    def __invert__(self) -> WayQuestion:
        return replace(self, negated=not self.negated)


MOST_FRESH = 8
"""The limit of threads that have ended, or wait, and need not have begun."""

FAIR, UNFAIR = "fair", "unfair"
"""The progress models by which each thread that can step does, and by which none need do."""

NO_WAY = WayQuestion()
"""What no way has."""


class InterleavedExecutions:
    """The executions of a test that a model allows, where all of them are interleavings; as
    ``oracle.executions.grown.GrownExecutions`` has them. None is ``cut``.
    """

    def __init__(
        self,
        test: LitmusTest,
        model: Model,
        needed: Collection[int] | None = None,
        most: int = MOST_STEPS,
        apart: Collection[str] | None = None,
    ) -> None:
        """``apart``: the locations of which it is asked who has written what is read; all, where that is None.

        Raises ``InputError`` where the model says nothing of the test, and ``TooManyError`` where executions are not
        known to be interleavings, or there are too many.
        """
        check_speaks(test, model)
        check_grows(test)
        if not grows(model):
            raise TooManyError(f"executions are not known to be interleavings under {model.name}")
        names = (location.name for location in test.locations) if apart is None else apart
        self._test, self._apart = test, frozenset(names)
        every = range(len(test.threads))
        self._needed = tuple(every if needed is None else needed)
        self._ways = Interleavings(test, model.name == RC11, self._apart, most)
        self.cut = False
        races = self._with_steps(lambda step: step.races)
        flags = (check.name for check in model.flags)
        self.flags: Mapping[str, WayQuestion] = {name: races if name == DATA_RACE else NO_WAY for name in flags}
        self.ended, self.all_ended = (
            self._in_ends(partial(self._has_ended, self._needed)),
            self._in_ends(partial(self._has_ended, every)),
        )

    def _has_ended(self, threads: Collection[int], state: GlobalState) -> bool:
        return all(self._ways.threads[thread][state.threads[thread]].next is None for thread in threads)

    def _in_ends(self, is_meant: Callable[[GlobalState], bool]) -> WayQuestion:
        return WayQuestion(frozenset(number for number, state in self._ways.last.items() if is_meant(state)))

    def _with_steps(self, is_meant: Callable[[ThreadStep], bool]) -> WayQuestion:
        return WayQuestion(steps=frozenset(number for number, step in enumerate(self._ways.steps) if is_meant(step)))

    def satisfied(self, proposition: Proposition) -> WayQuestion:
        """The executions whose final state satisfies a proposition. A thread that has no end has no final registers."""
        return self._in_ends(lambda state: holds(proposition, partial(self._final, state)))

    def _final(self, state: GlobalState, term: Term) -> Value:
        """The final value of a term in a state."""
        match term:
            case FinalRegister(thread, register):
                local = self._ways.threads[thread][state.threads[thread]]
                return local.registers.get(register, 0) if local.next is None else 0
            case int():
                return term
        return self._ways.cells[state.cells[self._ways.places[physical_location(self._test, term)]]].last[0]

    def leaves(self, finals: Mapping[Term, Value]) -> WayQuestion:
        """The executions in which some terms have these values in the end."""
        return self._in_ends(lambda state: all(self._final(state, term) == value for term, value in finals.items()))

    def accesses(self, locations: Collection[str]) -> WayQuestion:
        """The executions in which a thread accesses one of these locations."""
        return self.happens(lambda event: event.location in locations)

    def happens(self, is_meant: Callable[[Event], bool]) -> WayQuestion:
        """The executions in which a thread does what one of these events is."""
        return self._with_steps(lambda step: any(map(is_meant, step.outcome.events)))

    def reads_initial(self, locations: Collection[str]) -> WayQuestion:
        """The executions in which a read of one of these locations, all told apart, reads what nobody has written."""
        assert self._apart.issuperset(locations)
        return self._with_steps(
            lambda step: (
                step.reads and step.before is not None and step.before[1] is None and _location(step) in locations
            )
        )

    def reads_from(self, is_meant: Callable[[Event], bool]) -> WayQuestion:
        """The executions in which what one of these writes has written is read."""
        return self._with_steps(lambda step: step.reads and self._is_of(step, is_meant))

    def after(self, is_meant: Callable[[Event], bool], is_new: Callable[[Event], bool]) -> WayQuestion:
        """The executions in which what one of these writes has written is read, or is written over, and no write that
        is new stands between.
        """

        def meant(step: ThreadStep) -> bool:
            over = step.outcome.written is not None and not is_new(step.outcome.events[-1])
            return (step.reads or over) and self._is_of(step, is_meant)

        return self._with_steps(meant)

    def _is_of(self, step: ThreadStep, is_meant: Callable[[Event], bool]) -> bool:
        """Whether a step reads, or writes over, what one of some writes has written, at a place that is told apart."""
        writer = None if step.before is None else self._ways.writers.get(step.before[1])
        return writer is not None and is_meant(writer)

    def find(self, questions: Sequence[WayQuestion]) -> CandidateExecution | None:
        """One of them that all questions have, or a beginning of one where none asks for its end; None where there is
        none.
        """
        goals: frozenset[int] | None = None
        wanted, avoided = list[frozenset[int]](), frozenset[int]()
        for question in questions:
            match question:
                case WayQuestion(None, steps, True):
                    avoided |= steps
                case WayQuestion(None, steps):
                    wanted.append(steps)
                case WayQuestion(ends, _, negated):
                    every = frozenset(self._ways.last) if goals is None else goals
                    goals = every - (ends or frozenset()) if negated else every & (ends or frozenset())
        if not all(wanted) or (goals is not None and not goals):
            return None
        way = self._way(goals, wanted, avoided)
        return None if way is None else self._execution(way)

    def _way(
        self, goals: frozenset[int] | None, wanted: Sequence[frozenset[int]], avoided: frozenset[int]
    ) -> list[int] | None:
        """The steps of a shortest way, to one of some states where they are given, with one of each kind that is wanted
        and none to be avoided.
        """
        ways, whole = self._ways, (1 << len(wanted)) - 1

        def marks(steps: Sequence[int]) -> int:
            return sum(1 << kind for kind, meant in enumerate(wanted) if not meant.isdisjoint(steps))

        first = ways.parents[0][1]
        if not avoided.isdisjoint(first):
            return None
        start = (0, marks(first))
        came: dict[tuple[int, int], tuple[tuple[int, int], tuple[int, ...]]] = {start: (start, first)}
        waiting = [start]
        for node in waiting:
            state, seen = node
            if seen == whole and (goals is None or state in goals):
                return _back(came, node)
            aside = [(state, (step,)) for step in ways.aside[state] if seen != whole]
            for target, steps in (*aside, *ways.following[state]):
                after = (target, seen | marks(steps))
                if after not in came and avoided.isdisjoint(steps):
                    came[after] = (node, steps)
                    waiting.append(after)
        return None

    def _way_to(self, state: int) -> list[int]:
        parts = []
        while state:
            state, steps = self._ways.parents[state]
            parts.append(steps)
        parts.append(self._ways.parents[0][1])
        return [step for steps in reversed(parts) for step in steps]

    def _execution(self, way: Sequence[int]) -> CandidateExecution:
        replay = _Replay(self._test)
        for step in way:
            replay.take(self._ways.steps[step])
        return replay.execution()

    def never_ends(self) -> bool:
        """Whether a thread may be blocked for ever where all are run fairly, needed or not."""
        every = (1 << len(self._test.threads)) - 1
        return any(
            blocked.spin and every == blocked.wait | blocked.ended | _mask(blocked.spin)
            for _, blocked in self._ways.blocked.values()
        ) or any(map(self._is_fair, self._ways.cycles))

    def _is_fair(self, cycle: StateCycle) -> bool:
        """Whether in a cycle each thread that can step does."""
        return _mask(cycle.moves) | cycle.wait | cycle.ended == (1 << len(self._test.threads)) - 1

    def hang(self, name: str, promise: Promise, strong: bool = False) -> Hang | None:
        """A hang under a progress model: by its name, with its promise to the threads, and whether that is a strong
        one; None where there is none.

        Raises ``TooManyError`` where that is not known.
        """
        for number, blocked in self._ways.blocked.values():
            for endings, begun in self._endings(blocked):
                waits = ThreadEnding.WAITS in endings and ThreadEnding.LEFT not in endings
                if ThreadEnding.SPINS not in endings and not waits:
                    continue
                if all(endings[thread] is ThreadEnding.ENDED for thread in self._needed):
                    continue
                if keeps_promise(promise, endings, begun):
                    return checked(self._hang(number, blocked, endings), strong)
        for cycle in self._ways.cycles:
            if self._is_fair(cycle) and not all(cycle.ended >> thread & 1 for thread in self._needed):
                return checked(self._livelock(cycle), strong)
        if self.flags.get(DATA_RACE, NO_WAY).steps:  # what races is taken at once, whatever waits for it
            raise TooManyError(f"hangs under {name} are not known where accesses race")
        if self._ways.cycles and name != FAIR:
            raise TooManyError(f"hangs under {name} are not known where threads may go round and write")
        if self._ways.arrives and name not in (UNFAIR, *ONCE_BEGUN):  # arrivals of who has begun are taken at once
            raise TooManyError(f"hangs under {name} are not known where threads arrive at barriers")
        return None

    def _livelock(self, cycle: StateCycle) -> Hang:
        """A hang of threads that go round a cycle, which is shown twice."""
        every = range(len(self._test.threads))
        endings = [
            ThreadEnding.SPINS
            if thread in cycle.moves
            else ThreadEnding.WAITS
            if cycle.wait >> thread & 1
            else ThreadEnding.ENDED
            for thread in every
        ]
        replay = _Replay(self._test)
        for step in self._way_to(cycle.states[0]):
            replay.take(self._ways.steps[step])
        parts: list[list[frozenset[tuple[int, ...]]]] = [[] for _ in every]
        for _ in range(2):
            keys: list[list[tuple[int, ...]]] = [[] for _ in every]
            for step in self._round(cycle):
                taken = self._ways.steps[step]
                keys[taken.thread] += replay.take(taken)
            for thread in cycle.moves:
                parts[thread].append(frozenset(keys[thread]))
        return Hang(replay.execution(), tuple(endings), tuple(map(tuple, parts)))

    def _round(self, cycle: StateCycle) -> list[int]:
        """The steps of a way from the first state of a cycle through all of its moves and back."""
        here, found = cycle.states[0], list[int]()
        for state, after, steps in dict.fromkeys(cycle.moves.values()):
            found += [*self._between(cycle, here, state), *steps]
            here = after
        return [*found, *self._between(cycle, here, cycle.states[0])]

    def _between(self, cycle: StateCycle, start: int, goal: int) -> list[int]:
        """The steps of a shortest way between two states of a cycle."""
        inside = frozenset(cycle.states)
        came: dict[int, tuple[int, tuple[int, ...]]] = {start: (start, ())}
        for state in (waiting := [start]):
            if state == goal:
                break
            for target, steps in self._ways.following[state]:
                fails = any(self._ways.steps[step].fails for step in steps)
                if target in inside and target not in came and not fails:
                    came[target] = (state, steps)
                    waiting.append(target)
        parts = list[tuple[int, ...]]()
        state = goal
        while state != start:
            state, steps = came[state]
            parts.append(steps)
        return [step for part in reversed(parts) for step in part]

    def _endings(self, blocked: Blocked) -> Iterator[tuple[tuple[ThreadEnding, ...], int]]:
        """Yield how threads end in a state, and which have taken a step. A thread that has done nothing that others may
        have seen, and has ended or spins, need not have begun.
        """
        every = range(len(self._test.threads))
        found = dict.fromkeys(every, ThreadEnding.LEFT)
        found |= {thread: ThreadEnding.WAITS for thread in every if blocked.wait >> thread & 1}
        found |= {thread: ThreadEnding.ENDED for thread in every if blocked.ended >> thread & 1}
        found |= dict.fromkeys(blocked.spin, ThreadEnding.SPINS)
        begun = blocked.begun | _mask(thread for thread in every if found[thread] is not ThreadEnding.LEFT)
        able = (ThreadEnding.ENDED, ThreadEnding.SPINS)
        fresh = [thread for thread in every if not blocked.begun >> thread & 1 and found[thread] in able]
        if len(fresh) > MOST_FRESH:
            raise TooManyError("too many threads may wait before they have begun")
        for size in range(len(fresh) + 1):
            for left in combinations(fresh, size):
                endings = found | dict.fromkeys(left, ThreadEnding.LEFT)
                yield tuple(endings[thread] for thread in every), begun & ~_mask(left)

    def _hang(self, number: int, blocked: Blocked, endings: tuple[ThreadEnding, ...]) -> Hang:
        replay = _Replay(self._test)
        for step in self._way_to(number):
            replay.take(self._ways.steps[step])
        rounds: list[tuple[frozenset[tuple[int, ...]], ...]] = [() for _ in endings]
        for thread, idle in blocked.spin.items():
            if endings[thread] is ThreadEnding.SPINS:
                rounds[thread] = (frozenset(replay.take(idle)),)
        return Hang(replay.execution(), endings, tuple(rounds))


def _mask(threads: Iterable[int]) -> int:
    return sum(1 << thread for thread in threads)


def _location(step: ThreadStep) -> str | None:
    return step.outcome.events[0].location


def _back(came: Mapping[tuple[int, int], tuple[tuple[int, int], tuple[int, ...]]], node: tuple[int, int]) -> list[int]:
    """The steps of the way that came to a node."""
    parts = []
    while True:
        before, steps = came[node]
        parts.append(steps)
        if before == node:
            return [step for part in reversed(parts) for step in part]
        node = before


class _Replay:
    """An execution graph that grows by steps."""

    def __init__(self, test: LitmusTest) -> None:
        self._test = test
        self._threads = [ConcreteThread(test, number, frozenset(), frozenset()) for number in range(len(test.threads))]
        self._initial, self._graph = initial_values(test), empty_graph(test)

    def take(self, step: ThreadStep) -> list[tuple[int, ...]]:
        """Take a step, and return the keys of its events."""
        thread = step.thread
        situation = self._threads[thread].after(self._graph.threads[thread])
        run, begun = situation.runs[step.outcome.chosen], situation.begun
        source: Node | None = None
        if step.reads:
            assert step.before is not None
            source = self._source(_location(step) or "", step)
            done = read(run, begun, step.before[0])
            assert done is not None
            run = done
        events = run.events[begun:]
        for number, event in enumerate(events):
            self._add(thread, event, events[number + 1 :], run, step, source if number == 0 else None)
        return [event.key for event in events]

    def _add(
        self,
        thread: int,
        event: Event,
        pending: tuple[Event, ...],
        run: RunState,
        step: ThreadStep,
        source: Node | None,
    ) -> None:
        graph = self._graph
        value = None
        if event.kind is EventKind.WRITE:
            value = step.outcome.written
        elif step.before is not None and event.kind is EventKind.READ:
            value = step.before[0]
        waited = source
        if event.barrier is not None and "ARRIVE" not in event.tags:
            waited = graph.arrival((thread, None), event.barrier.name)
        clock = joined(graph, thread, waited)
        happened = Happened(event, value, graph.stamp, clock, run, pending, {}, frozenset(), step.outcome.chosen)
        node = (thread, len(graph.threads[thread]))
        self._graph = graph.with_event(thread, happened, source)
        if event.kind is EventKind.WRITE:
            location = event.location or ""
            self._graph = self._graph.placed(node, location, len(graph.order[location]))

    def _source(self, location: str, step: ThreadStep) -> Node:
        """The last write with what a step reads."""
        assert step.before is not None
        value, writer = step.before
        initial, *writes = self._graph.order[location]
        if writer is None:
            return initial
        for node in reversed(writes):
            done = self._graph[node]
            own = (done.event.thread, done.event.position, location)
            if done.value == value and writer in ((), own):
                return node
        raise AssertionError(location)

    def execution(self) -> CandidateExecution:
        """The execution, as far as it has grown."""
        threads = zip(self._threads, self._graph.threads, strict=True)
        situations = [thread.after(events) for thread, events in threads]
        return execution_of_graph(self._test, self._graph, situations, self._initial)
