"""The verdicts of progress models on litmus tests, where the lanes of one subgroup step in lock step, as independent
threads or with maximal reconvergence, and the reasons for them.

    fair & independent      the lanes are threads like any others, which is what ``fair`` alone means
    fair & lockstep         they have one program counter; which side of a branch goes first is up to the machine
    fair & lockstep.taken   so too, and the side that takes a branch goes first (``lockstep.fallthrough``: the other)
    fair & maximal          they are independent, and do operations of the subgroup in the tangles that SPIR-V promises

``oracle.progress.subgroups`` has the transition systems. Under the first and the last, a model promises execution to
lanes, and lanes that wait for others have no step. In lock step it promises execution to subgroups: a subgroup runs as
long as one of its lanes does, has taken a step if one of them has, and is promised execution if a lane is. Which of its
lanes steps, and so which side of a branch goes first, is up to the machine and no matter of fairness. So

- weakly, a program may hang where some component of its graph has an edge and each subgroup that is promised execution
  all along takes a step inside it;
- strongly, where some strongly connected set of nodes has an edge and, from each of its nodes, each subgroup that is
  promised execution there has some step that stays inside.

With one lane in each subgroup, these are the readings of ``oracle.progress.models``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import wraps

from corpus.graphs import components
from corpus.litmus.orders import Place
from corpus.litmus.test import LitmusTest
from oracle.exploration import NoVerdictError
from oracle.progress.explain import (
    Exit,
    Explanation,
    LtsStep,
    ModelLts,
    breadth_first,
    closed_walk,
    explain_system,
    lasso_of,
    lts_under,
    path_to,
    path_to_nearest,
)
from oracle.progress.litmus import LitmusLts, explore_litmus
from oracle.progress.models import Guarantee, History, ProgressModel, Verdict, system_verdicts, unfold
from oracle.progress.subgroups import CONVERGENCES, explore_subgroups, is_grouped, subgroups
from oracle.progress.system import NO_STEP, Rows
from oracle.promises import ThreadSets, delegate_choices, delegations, least, promised_sets


def explore_stepping(test: LitmusTest, stepping: str = "") -> LitmusLts:
    """The transition system of a test whose lanes step as named; as independent threads where nothing is.

    Raises ``NoVerdictError`` where there are too many states, or a step that can be taken has no meaning.
    """
    if stepping in ("", "independent") and not is_grouped(test):
        return explore_litmus(test)
    return explore_subgroups(test, CONVERGENCES[stepping or "independent"])


def stepping_verdicts(test: LitmusTest, models: Sequence[ProgressModel]) -> dict[str, Verdict | NoVerdictError]:
    """The verdict of each model on a test, or the reason why there is none, by the model's name in their order."""
    found: dict[str, Verdict | NoVerdictError] = {}
    for stepping in dict.fromkeys(model.stepping for model in models):
        mine = [model for model in models if model.stepping == stepping]
        try:
            found |= _verdicts(explore_stepping(test, stepping), stepping, mine)
        except NoVerdictError as error:
            found |= dict.fromkeys((model.name for model in mine), error)
    return {model.name: found[model.name] for model in models}


def explain_stepping(test: LitmusTest, model: ProgressModel) -> Explanation:
    """The verdict of a progress model on a test, with its reasons. Raises ``NoVerdictError`` where there is none.

    In lock step, a model of several levels is shown with one choice of delegates, as by ``explain_system``.
    """
    system = explore_stepping(test, model.stepping)
    placed = model.among(system.places)
    if not _in_lock_step(model.stepping):
        return explain_system(system, placed)
    promise = _Promise(placed, system.places)
    history = unfold(system.successors, system.chances)
    shown = replace(placed, guarantee=_hanging_choice(history, promise) or promise.to_delegates({}))
    graph = lts_under(system, replace(shown, placed=None))
    promised = dict(enumerate(graph.promised))
    cycles = [
        cycle
        for members in components(graph.successors)
        for nodes in _hanging(graph.successors, members, promised, promise)
        for cycle in _cycles(graph, nodes, promise)
    ]
    if not cycles:
        return Explanation(shown, graph, None, tuple(_exits(graph, promise)))
    depths, parents = breadth_first(graph)
    best = min(cycles, key=lambda cycle: depths[cycle[0].source] + len(cycle))
    return Explanation(shown, graph, lasso_of(graph, path_to(parents, best[0].source), best), ())


def _verdicts(system: LitmusLts, stepping: str, models: Sequence[ProgressModel]) -> Mapping[str, Verdict]:
    placed = [model.among(system.places) for model in models]
    if not _in_lock_step(stepping):
        return system_verdicts(system.successors, placed, system.chances)
    history = unfold(system.successors, system.chances)
    hanging = {model.name: _hanging_choice(history, _Promise(model, system.places)) for model in placed}
    return {name: Verdict.TERMINATES if choice is None else Verdict.MAY_HANG for name, choice in hanging.items()}


def _in_lock_step(stepping: str) -> bool:
    return stepping.startswith("lockstep")


class _Promise:
    """What a model, whose threads have their places, promises to subgroups in lock step."""

    def __init__(self, placed: ProgressModel, places: Sequence[Place]) -> None:
        self.groups = list(map(_mask, subgroups(places)))
        """The lanes of each subgroup."""
        self.strong = placed.strong
        self._placed = placed
        self._promise = placed.placed or placed.guarantee

    def sets(self, running: int, stepped: int) -> ThreadSets:
        """The sets of subgroups of each of which some subgroup is promised execution, given lanes, as bits by their
        numbers."""
        lanes = promised_sets(self._promise, self._whole(running), self._whole(stepped))
        return least(_mask(number for number, group in enumerate(self.groups) if group & some) for some in lanes)

    def to_delegates(self, chosen: Mapping[tuple[int, int], int]) -> Guarantee:
        """A promise to all lanes that run of the subgroups ``chosen``, by ``(running, stepped)``, elsewhere of the
        lowest that have one of each set."""

        @wraps(self._placed.guarantee)
        def seen(running: int, stepped: int) -> int:
            known = chosen.get((running, stepped))
            promised = delegations(self.sets(running, stepped))[0] if known is None else known
            return sum(self.groups[number] & running for number in _threads(promised))

        return seen

    def _whole(self, threads: int) -> int:
        return sum(group for group in self.groups if group & threads)


def _hanging_choice(history: History, promise: _Promise) -> Guarantee | None:
    """The promise, with delegates where there is a choice, under which a program may hang; None where it terminates."""
    for members in history.components:
        if not _stepping(history.successors, members):
            continue
        stepped = history.stepped[members[0]]  # equal at all of them
        views = sorted({history.running[node] for node in members})
        for chosen in delegate_choices([promise.sets(running, stepped) for running in views]):
            guarantee = promise.to_delegates({(view, stepped): mask for view, mask in zip(views, chosen, strict=True)})
            promised = {node: history.promised(node, guarantee) for node in members}
            if any(True for _ in _hanging(history.successors, members, promised, promise)):
                return guarantee
    return None


def _hanging(rows: Rows, members: Sequence[int], promised: Mapping[int, int], promise: _Promise) -> Iterator[list[int]]:
    """Strongly connected sets of nodes of a component, each with an edge, that a run may stay in for ever."""
    stepping = _stepping(rows, members)
    if stepping and promise.strong:
        yield from _traps(rows, promised, promise.groups, members)
    elif stepping and all(group & stepping for group in _owed(promised, promise.groups, members)):
        yield sorted(members)


def _owed(promised: Mapping[int, int], groups: Sequence[int], members: Iterable[int]) -> list[int]:
    """The subgroups that are promised execution at each of some nodes."""
    members = list(members)
    return [group for group in groups if all(promised[node] & group for node in members)]


def _stepping(rows: Rows, members: Sequence[int]) -> int:
    """The threads that take a step from some of the nodes to some of them."""
    inside = set(members)
    return _mask({tid for node in members for tid, after in enumerate(rows[node]) if after in inside})


def _traps(
    rows: Rows, promised: Mapping[int, int], groups: Sequence[int], members: Sequence[int]
) -> Iterator[list[int]]:
    """The largest strongly connected sets with an edge in which each promised subgroup can keep inside, from each
    node."""
    left = [sorted(members)]
    while left:
        inside = left.pop()
        kept = [node for node in inside if not _leaving(rows[node], promised[node], groups, set(inside))]
        number = {node: number for number, node in enumerate(kept)}
        inner = [tuple(number.get(after, NO_STEP) for after in rows[node]) for node in kept]
        parts = [sorted(kept[number] for number in part) for part in components(inner)]
        if parts == [inside]:
            if _stepping(rows, inside):
                yield inside
        else:
            left += parts


def _leaving(row: Sequence[int], promised: int, groups: Sequence[int], inside: set[int]) -> int:
    """A subgroup that is promised execution at a node and all of whose steps leave a set; 0 where there is none."""
    for group in groups:
        owed = group & promised
        if owed and not any(owed >> tid & 1 and after in inside for tid, after in enumerate(row)):
            return owed
    return 0


def _cycles(graph: ModelLts, nodes: list[int], promise: _Promise) -> Iterator[tuple[LtsStep, ...]]:
    """Cycles among the nodes of a hang that keep every promise."""
    if promise.strong and any(graph.promised[node] for node in nodes):
        yield _tour(graph, nodes, promise.groups)
        return
    owed = _owed(dict(enumerate(graph.promised)), promise.groups, nodes)
    numbers = _mask(number for number, group in enumerate(promise.groups) if group in owed)
    group_of = {tid: number for number, group in enumerate(promise.groups) for tid in _threads(group)}
    for entry in nodes[:_ENTRIES]:
        yield closed_walk(graph, entry, set(nodes), numbers, lambda owed, tid, after: owed & ~(1 << group_of[tid]))


_ENTRIES = 200
"""The most nodes from which a short cycle is looked for."""


def _tour(graph: ModelLts, trap: list[int], groups: Sequence[int]) -> tuple[LtsStep, ...]:
    """A closed walk in a trap that takes, from each node on it, a step of each subgroup promised execution there."""
    inside = set(trap)
    chosen: dict[int, list[LtsStep]] = {}
    rows = []
    for node, row in enumerate(graph.successors):
        if node not in inside:
            rows.append(tuple(NO_STEP for _ in row))
            continue
        staying = [LtsStep(node, tid, after) for tid, after in enumerate(row) if after in inside]
        owed = [[step for step in staying if group & graph.promised[node] & (1 << step.thread)] for group in groups]
        chosen[node] = [min(steps, key=lambda step: (step.target, step.thread)) for steps in owed if steps]
        taken = {step.thread for step in chosen[node]} if graph.promised[node] else {step.thread for step in staying}
        rows.append(tuple(after if tid in taken and after in inside else NO_STEP for tid, after in enumerate(row)))
    closed = next(
        sorted(part)
        for part in components(rows)
        if part[0] in inside and all(after in part for node in part for after in rows[node] if after != NO_STEP)
    )
    waiting = {step for node in closed for step in chosen[node]}
    here = entry = closed[0]
    tour: list[LtsStep] = []
    while waiting:
        leg = path_to_nearest(rows, here, waiting)
        waiting.difference_update(leg)
        tour += leg
        here = leg[-1].target
    if here != entry or not tour:
        into = {LtsStep(n, t, entry) for n in closed for t, after in enumerate(rows[n]) if after == entry}
        tour += path_to_nearest(rows, here, into)
    return tuple(tour)


def _exits(graph: ModelLts, promise: _Promise) -> Iterator[Exit]:
    """Why a run leaves each component that has a cycle, for a program that terminates."""
    groups, promises = promise.groups, dict(enumerate(graph.promised))
    for members in sorted(map(sorted, components(graph.successors))):
        stepping = _stepping(graph.successors, members)
        if not stepping:
            continue
        inside = set(members)
        promised = _mask(
            tid
            for tid in _threads(graph.promised[members[0]])
            if all(graph.promised[node] >> tid & 1 for node in members)
        )
        if promise.strong:
            node, leaving = next(
                (node, owed)
                for node in members
                if (owed := _leaving(graph.successors[node], graph.promised[node], groups, inside))
            )
        else:
            owed = next(group for group in _owed(promises, groups, members) if not group & stepping)
            node, leaving = members[0], owed & graph.promised[members[0]]
        tid = next(_threads(leaving))
        yield Exit(tuple(members), promised, stepping, leaving, (LtsStep(node, tid, graph.successors[node][tid]),))


def _mask(threads: Iterable[int]) -> int:
    return sum(1 << tid for tid in threads)


def _threads(mask: int) -> Iterator[int]:
    return (tid for tid in range(mask.bit_length()) if mask >> tid & 1)
