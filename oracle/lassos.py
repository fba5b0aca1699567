"""A lasso of a litmus test's transition system as a hang, so that any memory model can be asked whether it allows it.

A program that may hang under sequential consistency may hang under a weaker model, by one execution that both allow:
the stem of the lasso and its cycle twice, each read reading what was written last, ``co`` and the order of fences as in
time. It satisfies all conditions of a hang (``oracle.executions.stuck``). The memory model is asked whether it allows
that one execution, which is quick, and needs no bound on loops. Where it does not, or there is no lasso, there is no
answer.

Gaps: no hang is made where threads meet at barriers, where one goes round without access to memory, or of a run in
which a weak compare-and-swap fails spuriously.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import permutations

from corpus.litmus.instructions import Barrier
from corpus.litmus.test import LitmusTest
from oracle.cat.algebra import bits
from oracle.cat.interpreter import Model
from oracle.executions.candidates import execution_events
from oracle.executions.domains import value_of
from oracle.executions.events import INITIAL, Event, EventKind, ExecutionChoices, ProgramBase, phase_ends
from oracle.executions.judge import passing_checks
from oracle.executions.orders import to_order
from oracle.executions.steps import Constraint, Key, Walker
from oracle.executions.stuck import Hang, ThreadEnding, unasked
from oracle.executions.valuations import value_in
from oracle.executions.values import Value, calculate
from oracle.executions.witness import CandidateExecution, shown
from oracle.exploration import NoVerdictError
from oracle.progress.explain import explain_system
from oracle.progress.litmus import explore_litmus
from oracle.progress.models import ProgressModel

MOST_STATES = 20_000
"""The limit of states that are searched for a lasso; beyond it, other ways to a hang are as quick."""

_UNBOUNDED = 1 << 30


def hang_of_lasso(test: LitmusTest, progress: ProgressModel, model: Model) -> Hang | None:
    """A hang that is a lasso under the progress model and an execution that the memory model allows; None where there
    are barriers, too many states, or no such lasso.

    Raises ``InputError`` where an address is no location of the test.
    """
    test = unasked(test)
    if any(isinstance(ins, Barrier) for ins in test.instructions):
        return None
    try:
        system = explore_litmus(test, MOST_STATES)
    except NoVerdictError:
        return None
    found = explain_system(system, progress)
    lasso = found.lasso
    if lasso is None or any(found.graph.is_chance(step) for step in lasso.stem):
        return None
    _, positions = system.states[found.graph.states[lasso.cycle[0].source]]
    if any(thread.positions[position].round for thread, position in zip(system.automata, positions, strict=True)):
        return None
    ended = [thread.ended(position) for thread, position in zip(system.automata, positions, strict=True)]
    run = _Run(test)
    for step in lasso.stem:
        run.step(step.thread)
    for thread in range(len(test.threads)):
        if ended[thread]:
            run.finish(thread)
    written = [run.step(step.thread, 1) for step in lasso.cycle]
    if any(written):
        for step in lasso.cycle:
            run.step(step.thread, 2)
    hang = run.hang(model, ended)
    return hang if passing_checks(1, model.judge(hang.execution.base)) else None


class _Run:
    """The program, run step by step: a step is an access, with all that a thread does by itself before it."""

    def __init__(self, test: LitmusTest) -> None:
        self._test = test
        self._walkers = [Walker(test, number, _UNBOUNDED) for number in range(len(test.threads))]
        self._states = [walker.start() for walker in self._walkers]
        self._order: list[Event] = []
        self._memory: dict[str | None, tuple[Value, Key]] = {
            location.name: (value_of(location.initial), (INITIAL, number))
            for number, location in enumerate(test.locations)
        }
        self._values: dict[Key, Value] = {}
        self._sources: dict[Key, Key] = {}
        self._passes: list[list[set[Key]]] = [[] for _ in self._walkers]

    def step(self, thread: int, time: int = 0) -> bool:
        """The next access of a thread, whether it writes; ``time`` numbers the passes of a cycle from 1."""
        begun = len(self._order)
        while not any(event.kind in (EventKind.READ, EventKind.WRITE) for event in self._order[begun:]):
            self._advance(thread)
        events = self._order[begun:]
        if time:
            self._passes[thread] += [set() for _ in range(time - len(self._passes[thread]))]
            self._passes[thread][-1].update(event.key for event in events)
        return any(event.kind is EventKind.WRITE for event in events)

    def finish(self, thread: int) -> None:
        """Runs a thread through the instructions that it does by itself before it ends."""
        while self._states[thread].pc != self._walkers[thread].flow.end:
            self._advance(thread)

    def _advance(self, thread: int) -> None:
        before = self._states[thread]
        for after in self._walkers[thread].step(before):
            events = after.events[len(before.events) :]
            reads = {event.key: self._memory[event.location] for event in events if event.kind is EventKind.READ}
            known = self._values | {key: value for key, (value, _) in reads.items()}
            if all(_holds(held, known) for held in after.constraints[len(before.constraints) :]):
                break
        self._states[thread], self._values = after, known
        self._sources |= {key: write for key, (_, write) in reads.items()}
        self._order += events
        for event in events:
            if event.kind is EventKind.WRITE:
                self._memory[event.location] = value_in(event.value, known), event.key

    def hang(self, model: Model, ended: Sequence[bool]) -> Hang:
        """The run as a hang, its orders those of time."""
        events = execution_events(self._test, self._order)
        index = {event.key: number for number, event in enumerate(events)}
        time_of = {event.key: time for time, event in enumerate(self._order)}
        rank = [time_of.get(event.key, -1) for event in events]
        algebra = bits(1, len(events))
        rf = algebra.pairs((index[write], index[read]) for read, write in self._sources.items())
        writes = [number for number, event in enumerate(events) if event.kind is EventKind.WRITE]
        co = algebra.pairs(
            (one, other)
            for one, other in permutations(writes, 2)
            if events[one].location == events[other].location and rank[one] < rank[other]
        )
        places = tuple(thread.place for thread in self._test.threads)
        completes = phase_ends(
            events, lambda left, right: int(value_in(left, self._values) == value_in(right, self._values))
        )
        chosen = ExecutionChoices(rf, co, meet=algebra.empty(), completes=completes)
        base = ProgramBase(algebra, events, places, chosen, self._test.synchronised)
        orders = {
            name: algebra.closure(
                algebra.pairs((one, other) if rank[one] < rank[other] else (other, one) for one, other in pairs)
            )
            for name, pairs in to_order(model, base).items()
        }
        values = tuple(None if (what := shown(event)) is None else value_in(what, self._values) for event in events)
        execution = CandidateExecution(self._test, replace(base, choices=replace(chosen, orders=orders)), values, {})
        stuck = ThreadEnding.CYCLES if any(len(parts) > 1 for parts in self._passes) else ThreadEnding.SPINS
        endings = tuple(
            stuck if parts else ThreadEnding.ENDED if done else ThreadEnding.LEFT
            for parts, done in zip(self._passes, ended, strict=True)
        )
        return Hang(execution, endings, tuple(tuple(map(frozenset, parts)) for parts in self._passes))


def _holds(held: Constraint, known: Mapping[Key, Value]) -> bool:
    return calculate(held.operation, value_in(held.left, known), value_in(held.right, known)) == 1
