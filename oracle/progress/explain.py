"""The reasons for a progress model's verdict: a lasso for MAY_HANG, a way out of every cycle for TERMINATES.

The LTS *under a model* is the LTS of a program whose states also know who is promised fair execution, as in Fig. 6 of
Sorensen et al. 2021. A run that never ends is a stem and then a cycle, and the model allows it when the cycle keeps
every promise:

- weak: every thread that is promised execution all along the cycle takes a step on it;
- strong: from every state of the cycle, the step of every promised thread is taken on the cycle.

The second condition is the trap that Listing 2 of the paper looks for, made a run: the states of such a cycle are
closed under promised steps, so these steps alone reach neither the end nor a state where nothing is promised; and
where some states cannot escape, a closed walk over all promised steps of a bottom component among them is such a cycle.

A program terminates when no component of the graph that has a cycle can keep the run in: weakly, for some promised
thread does not step inside it; strongly, for promised steps alone lead out of it from each of its states.

Lassos are as short as the search makes them, not provably shortest in the strong case.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from functools import reduce
from operator import and_, or_

from corpus.graphs import closed_components, components
from corpus.progress.axb import Program, places_of
from oracle.exploration import shortest_run
from oracle.progress.behaviour import refine
from oracle.progress.lts import explore
from oracle.progress.models import (
    ProgressModel,
    Verdict,
    delegates_of_hang,
    lowest_delegates,
    unfold,
)
from oracle.progress.system import NO_STEP, Action, Rows, TransitionSystem, having_steps


@dataclass(frozen=True, slots=True)
class ModelLts:
    """The LTS of a program under one model, as small as the promises allow.

    Node 0 is the start; nodes are numbered breadth-first. ``states[n]`` is the state of ``lts``, ``promised[n]`` the
    mask of threads promised fair execution, ``successors[n][t]`` the node after a step of thread ``t`` or ``NO_STEP``;
    so are ``chances``, where there are any.
    """

    lts: TransitionSystem
    states: tuple[int, ...]
    promised: tuple[int, ...]
    successors: Rows
    chances: Rows = ()

    def running(self, node: int) -> int:
        """Mask of the threads that have a step to take."""
        return having_steps(self.successors[node])

    def waiting(self, node: int) -> int:
        """Mask of the threads that wait at a barrier."""
        return self.lts.waiting(self.states[node])

    def masked(self, node: int) -> int:
        """Mask of the lanes that wait for others of their subgroup to reconverge with them."""
        return self.lts.masked(self.states[node])

    def memory(self, node: int) -> tuple[int | str, ...]:
        """The value of each location at a node."""
        return self.lts.memories[self.states[node]]

    def counters(self, node: int) -> tuple[int, ...]:
        """The program counter of each thread at a node."""
        return self.lts.counters[self.states[node]]

    def action(self, step: LtsStep) -> Action:
        """The action of a step, as people read it."""
        action = self.lts.action(self.states[step.source], step.thread)
        return replace(action, outcome=f"{action.outcome}, and fails") if self.is_chance(step) else action

    def is_chance(self, step: LtsStep) -> bool:
        """Whether a step is a chance, which its thread takes in place of its own step."""
        return self.successors[step.source][step.thread] != step.target and bool(self.chances)


@dataclass(frozen=True, slots=True)
class LtsStep:
    """A step of ``thread`` between two nodes of a ``ModelLts``."""

    source: int
    thread: int
    target: int


@dataclass(frozen=True, slots=True)
class Lasso:
    """A run that never ends and that the model allows: ``stem`` from the start, then ``cycle`` again and again.

    ``promised`` are promised execution all along the cycle; ``stepping`` take a step on it; ``starved`` have not ended
    and take none, of which ``waiting`` wait at a barrier all along.
    """

    stem: tuple[LtsStep, ...]
    cycle: tuple[LtsStep, ...]
    promised: int
    stepping: int
    starved: int
    waiting: int


@dataclass(frozen=True, slots=True)
class Exit:
    """The reason why a run leaves the cycles among ``nodes``, a strongly connected component.

    ``promised`` are promised execution at every node, ``stepping`` can step and stay inside, ``leaving`` are promised
    and cannot. ``path`` are promised steps that lead out, but for steps from where nothing is promised: weakly, one
    step of the first leaving thread; strongly, the way from the node that is furthest from leaving.
    """

    nodes: tuple[int, ...]
    promised: int
    stepping: int
    leaving: int
    path: tuple[LtsStep, ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """A verdict and its reasons: ``lasso`` for MAY_HANG, else an exit of every component that has a cycle."""

    model: ProgressModel
    graph: ModelLts
    lasso: Lasso | None
    exits: tuple[Exit, ...]

    @property
    def verdict(self) -> Verdict:
        """The verdict that the model gives: MAY_HANG where there is a lasso, else TERMINATES."""
        return Verdict.TERMINATES if self.lasso is None else Verdict.MAY_HANG


def explain(program: Program, model: ProgressModel) -> Explanation:
    """The verdict of a progress model on a program, with its reasons."""
    return explain_system(explore(program), model.among(places_of(program)))


def explain_system(system: TransitionSystem, model: ProgressModel) -> Explanation:
    """The verdict of a progress model on a transition system, with its reasons.

    Under a model of several levels these are for one choice of delegates, one under which the program hangs if any.
    """
    if model.placed is not None:
        chosen = delegates_of_hang(unfold(system.successors, system.chances), model) or lowest_delegates(model.placed)
        found = explain_system(system, replace(model, guarantee=chosen, placed=None))
        return replace(found, model=replace(model, guarantee=chosen))
    graph = lts_under(system, model)
    lasso = find_lasso(graph, model.strong)
    return Explanation(model, graph, lasso, () if lasso else tuple(_exits(graph, model.strong)))


def lts_under(lts: TransitionSystem, model: ProgressModel) -> ModelLts:
    """The LTS of a program under a model, in which states that differ in no promise to come are one node."""
    history = unfold(lts.successors, lts.chances)
    promised = [history.promised(node, model.guarantee) for node in range(len(history.states))]
    rows = history.successors
    if history.chances:
        rows = [row + others for row, others in zip(rows, history.chances, strict=True)]
    classes = refine(rows, list(zip(history.states, promised, strict=True)))
    first: dict[int, int] = {}
    for node in range(len(history.states)):
        first.setdefault(classes[node], node)
    return ModelLts(
        lts,
        tuple(history.states[node] for node in first.values()),
        tuple(promised[node] for node in first.values()),
        *(
            tuple(tuple(classes[after] for after in rows[node]) for node in first.values() if rows)
            for rows in (history.successors, history.chances)
        ),
    )


def find_lasso(graph: ModelLts, strong: bool) -> Lasso | None:
    """The shortest lasso found that keeps every promise, or ``None`` where there is none."""
    depths, parents = breadth_first(graph)
    best: tuple[LtsStep, ...] | None = None
    shortest = 0
    for cycle in _fair_cycles(graph, strong):
        length = depths[cycle[0].source] + len(cycle)
        if best is None or length < shortest:
            best, shortest = cycle, length
    if best is None:
        return None
    return lasso_of(graph, path_to(parents, best[0].source), best)


def lasso_of(graph: ModelLts, stem: tuple[LtsStep, ...], cycle: tuple[LtsStep, ...]) -> Lasso:
    """The lasso of a stem and a cycle, with the threads that step on the cycle, starve or wait there."""
    nodes = [step.source for step in cycle]
    stepping, waiting = stepping_in(cycle), reduce(and_, map(graph.waiting, nodes))
    starved = reduce(or_, (graph.running(node) | graph.waiting(node) for node in nodes)) & ~stepping
    promised = reduce(and_, (graph.promised[node] for node in nodes))
    return Lasso(stem, cycle, promised, stepping, starved, waiting & starved)


def _fair_cycles(graph: ModelLts, strong: bool) -> Iterator[tuple[LtsStep, ...]]:
    """Cycles that keep every promise, from each node that may be entered; none only where there is none."""
    found = False
    for members, stepping in cyclic_components(graph):
        promises = [graph.promised[node] for node in members]
        if reduce(or_, promises) if strong else reduce(and_, promises) & ~stepping:
            continue
        found = True
        for entry in members:
            yield _weakly_fair_walk(graph, entry, members)
    if strong:
        for trap in traps(graph):
            found = True
            yield _tour(graph, trap)
    if strong and not found:  # where nothing is promised at some nodes of a component only
        for members in closed_components(graph.successors, _promised_rows(graph), range(len(graph.states))):
            if any(graph.promised[node] for node in members):
                yield _tour(graph, members)
            else:
                yield _weakly_fair_walk(graph, members[0], members)


def traps(graph: ModelLts) -> list[list[int]]:
    """Sets of nodes, each sorted, that promised steps connect strongly and never leave, with at least one such step."""
    rows = _promised_rows(graph)
    found = []
    for component in components(rows):
        members = set(component)
        targets = [after for node in members for after in rows[node] if after != NO_STEP]
        if targets and members.issuperset(targets):
            found.append(sorted(members))
    return sorted(found)


def _promised_rows(graph: ModelLts) -> list[tuple[int, ...]]:
    """Rows of successors with the steps of promised threads only."""
    return [
        tuple(after if promised >> tid & 1 else NO_STEP for tid, after in enumerate(row))
        for row, promised in zip(graph.successors, graph.promised, strict=True)
    ]


def cyclic_components(graph: ModelLts) -> Iterator[tuple[list[int], int]]:
    """Each strongly connected component with a step inside, sorted, and the mask of threads that step inside."""
    for component in components(list(graph.successors)):
        members = set(component)
        stepping = 0
        for node in component:
            for tid, after in enumerate(graph.successors[node]):
                if after in members:
                    stepping |= 1 << tid
        if stepping:
            yield sorted(component), stepping


def stepping_in(steps: tuple[LtsStep, ...]) -> int:
    """The mask of threads that take some of the steps."""
    mask = 0
    for step in steps:
        mask |= 1 << step.thread
    return mask


def breadth_first(graph: ModelLts) -> tuple[list[int], dict[int, LtsStep]]:
    """The distance of every node from the start, and the step by which a shortest path reaches it."""
    depths = [0] * len(graph.states)
    parents: dict[int, LtsStep] = {}
    threads = len(graph.successors[0])
    for node, row in enumerate(graph.successors):  # nodes are numbered breadth-first
        for place, after in enumerate((*row, *graph.chances[node]) if graph.chances else row):
            tid = place % threads
            if after > 0 and after not in parents:
                parents[after] = LtsStep(node, tid, after)
                depths[after] = depths[node] + 1
    return depths, parents


def path_to(parents: dict[int, LtsStep], node: int) -> tuple[LtsStep, ...]:
    """The path to a node, given the step by which each node on it is reached."""
    steps = []
    while node in parents:
        steps.append(parents[node])
        node = parents[node].source
    return tuple(reversed(steps))


def closed_walk(
    graph: ModelLts, entry: int, inside: Collection[int], owed: int, remaining: Callable[[int, int, int], int]
) -> tuple[LtsStep, ...]:
    """A shortest closed walk from ``entry`` among the nodes ``inside`` on which all that is ``owed`` is paid.

    ``remaining(owed, tid, after)`` is what is still owed once the thread ``tid`` has stepped to the node ``after``.
    There is such a walk where the nodes are strongly connected and each debt is paid somewhere among them.
    """

    def steps(state: tuple[int, int, bool]) -> Iterator[tuple[LtsStep, tuple[int, int, bool]]]:
        node, missing, _ = state  # and whether the walk has begun
        for tid, after in enumerate(graph.successors[node]):
            if after in inside:
                yield LtsStep(node, tid, after), (after, remaining(missing, tid, after), True)

    walk = shortest_run([(entry, owed, False)], steps, lambda state: state == (entry, 0, True))
    assert walk is not None
    return tuple(walk)


def _weakly_fair_walk(graph: ModelLts, entry: int, members: list[int]) -> tuple[LtsStep, ...]:
    """A shortest closed walk from ``entry`` inside ``members`` that keeps every promise weakly: each thread takes a
    step on it, or is not promised one somewhere on it.
    """
    promised = graph.promised

    def remaining(owed: int, tid: int, after: int) -> int:
        return owed & ~(1 << tid) & promised[after]

    return closed_walk(graph, entry, set(members), promised[entry], remaining)


def _tour(graph: ModelLts, trap: list[int]) -> tuple[LtsStep, ...]:
    """A closed walk over every promised step of a trap: always on to the nearest step not yet taken.

    It takes no other steps, but where nothing is promised somewhere in the trap.
    """
    rows = _promised_rows(graph)
    waiting = {LtsStep(node, tid, after) for node in trap for tid, after in enumerate(rows[node]) if after != NO_STEP}
    if not all(graph.promised[node] for node in trap):
        inside = set(trap)
        rows = [tuple(after if after in inside else NO_STEP for after in row) for row in graph.successors]
    tour: list[LtsStep] = []
    here = entry = min(trap)
    while waiting:
        leg = path_to_nearest(rows, here, waiting)
        waiting.difference_update(leg)
        tour += leg
        here = leg[-1].target
    if here != entry:
        tour += path_to_nearest(
            rows, here, {LtsStep(n, t, entry) for n in trap for t, a in enumerate(rows[n]) if a == entry}
        )
    return tuple(tour)


def path_to_nearest(rows: list[tuple[int, ...]], start: int, goals: set[LtsStep]) -> tuple[LtsStep, ...]:
    """A shortest path from ``start`` that ends with one of ``goals``; some goal must be in reach."""
    sources = {step.source for step in goals}

    def steps(node: int) -> Iterator[tuple[LtsStep, int]]:
        return ((LtsStep(node, tid, after), after) for tid, after in enumerate(rows[node]) if after != NO_STEP)

    def is_goal(node: int) -> bool:
        return node in sources and any(step in goals for step, _ in steps(node))

    path = shortest_run([start], steps, is_goal)
    assert path is not None
    last = next(step for step, _ in steps(path[-1].target if path else start) if step in goals)
    return (*path, last)


def _exits(graph: ModelLts, strong: bool) -> Iterator[Exit]:
    """Why a run leaves each component that has a cycle, for a program that terminates; nearest first."""
    rows = [
        owed if promised else row
        for owed, promised, row in zip(_promised_rows(graph), graph.promised, graph.successors, strict=True)
    ]
    for members, stepping in sorted(cyclic_components(graph)):
        promised = reduce(and_, (graph.promised[node] for node in members))
        leaving = promised & ~stepping
        outward = {
            LtsStep(node, tid, after)
            for node in members
            for tid, after in enumerate(rows[node])
            if after != NO_STEP and after not in members
        }
        if strong:
            path = max((path_to_nearest(rows, node, outward) for node in members), key=len)
        else:
            path = (min((step for step in outward if leaving >> step.thread & 1), key=lambda s: (s.source, s.thread)),)
        yield Exit(tuple(members), promised, stepping, leaving, path)
