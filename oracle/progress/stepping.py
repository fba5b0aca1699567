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

from corpus.litmus.test import LitmusTest
from oracle.graphs import components
from oracle.progress.explain import (
    Exit,
    Explanation,
    LtsStep,
    ModelLts,
    breadth_first,
    explain_system,
    lasso_of,
    lts_under,
    path_to,
    path_to_nearest,
)
from oracle.progress.litmus import LitmusLts, NoVerdictError, explore_litmus
from oracle.progress.models import ProgressModel, Verdict, system_verdicts, unfold
from oracle.progress.subgroups import CONVERGENCES, explore_subgroups, is_grouped, subgroups
from oracle.progress.system import NO_STEP, Rows


def explore_stepping(test: LitmusTest, stepping: str = "") -> LitmusLts:
    """The transition system of a test whose lanes step as named; as independent threads where nothing is.

    Raises ``NoVerdictError`` as ``explore_litmus`` does.
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
    """The verdict of a progress model on a test, with its reasons. Raises ``NoVerdictError`` where there is none."""
    system = explore_stepping(test, model.stepping)
    if not _in_lock_step(model.stepping):
        return explain_system(system, model.among(system.places))
    groups = list(map(_mask, subgroups(system.places)))
    placed = of_subgroups(model, system, groups)
    graph = lts_under(system, placed)
    cycles = [
        cycle
        for nodes in _hanging(graph.successors, graph.promised, groups, model.strong)
        for cycle in _cycles(graph, nodes, groups, model.strong)
    ]
    if not cycles:
        return Explanation(model, graph, None, tuple(_exits(graph, groups, model.strong)))
    depths, parents = breadth_first(graph)
    best = min(cycles, key=lambda cycle: depths[cycle[0].source] + len(cycle))
    return Explanation(placed, graph, lasso_of(graph, path_to(parents, best[0].source), best), ())


def _verdicts(system: LitmusLts, stepping: str, models: Sequence[ProgressModel]) -> Mapping[str, Verdict]:
    if not _in_lock_step(stepping):
        return system_verdicts(system.successors, [model.among(system.places) for model in models], system.chances)
    groups = list(map(_mask, subgroups(system.places)))
    history = unfold(system.successors, system.chances)
    found = {}
    for model in models:
        guarantee = of_subgroups(model, system, groups).guarantee
        promised = [history.promised(node, guarantee) for node in range(len(history.states))]
        hangs = any(True for _ in _hanging(history.successors, promised, groups, model.strong))
        found[model.name] = Verdict.MAY_HANG if hangs else Verdict.TERMINATES
    return found


def _in_lock_step(stepping: str) -> bool:
    return stepping.startswith("lockstep")


def of_subgroups(model: ProgressModel, system: LitmusLts, groups: Sequence[int]) -> ProgressModel:
    """The model whose promise to a lane is one to all lanes of the subgroup that have a step."""
    placed = model.among(system.places)
    guarantee = placed.guarantee

    @wraps(guarantee)
    def seen(running: int, stepped: int) -> int:
        promised = guarantee(_whole(running), _whole(stepped))
        return sum(group & running for group in groups if group & promised)

    def _whole(threads: int) -> int:
        return sum(group for group in groups if group & threads)

    return replace(placed, guarantee=seen)


def _hanging(rows: Rows, promised: Sequence[int], groups: Sequence[int], strong: bool) -> Iterator[list[int]]:
    """Strongly connected sets of nodes, each with an edge, that a run may stay in; none where none may for ever."""
    for members in components(rows):
        stepping = _stepping(rows, members)
        if not stepping:
            continue
        if strong:
            yield from _traps(rows, promised, groups, members)
        elif all(group & stepping for group in _owed(promised, groups, members)):
            yield sorted(members)


def _owed(promised: Sequence[int], groups: Sequence[int], members: Iterable[int]) -> list[int]:
    """The subgroups that are promised execution at each of some nodes."""
    members = list(members)
    return [group for group in groups if all(promised[node] & group for node in members)]


def _stepping(rows: Rows, members: Sequence[int]) -> int:
    """The threads that take a step from some of the nodes to some of them."""
    inside = set(members)
    return _mask({tid for node in members for tid, after in enumerate(rows[node]) if after in inside})


def _traps(rows: Rows, promised: Sequence[int], groups: Sequence[int], members: Sequence[int]) -> Iterator[list[int]]:
    """The largest strongly connected sets with an edge in which each promised subgroup can keep inside, from each
    node."""
    left = [sorted(members)]
    while left:
        inside = left.pop()
        kept = [node for node in inside if not _leaving(rows[node], promised[node], groups, set(inside))]
        number = {node: at for at, node in enumerate(kept)}
        inner = [tuple(number.get(after, NO_STEP) for after in rows[node]) for node in kept]
        parts = [sorted(kept[at] for at in part) for part in components(inner)]
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


def _cycles(graph: ModelLts, nodes: list[int], groups: Sequence[int], strong: bool) -> Iterator[tuple[LtsStep, ...]]:
    """Cycles among the nodes of a hang that keep every promise."""
    if strong and any(graph.promised[node] for node in nodes):
        yield _tour(graph, nodes, groups)
        return
    inside = set(nodes)
    owed = _mask(number for number, group in enumerate(groups) if group in _owed(graph.promised, groups, nodes))
    for entry in nodes[:_ENTRIES]:
        yield _closed_walk(graph, entry, inside, groups, owed if not strong else 0)


_ENTRIES = 200
"""The most nodes from which a short cycle is looked for."""


def _closed_walk(
    graph: ModelLts, entry: int, inside: set[int], groups: Sequence[int], owed: int
) -> tuple[LtsStep, ...]:
    """A shortest walk from a node back to it with a step of each subgroup of ``owed``, by their numbers."""
    of = {tid: number for number, group in enumerate(groups) for tid in _threads(group)}
    reached: dict[tuple[int, int], tuple[tuple[int, int], LtsStep] | None] = {(entry, owed): None}
    queue = list(reached)
    for here in queue:  # grows during the walk
        node, missing = here
        for tid, after in enumerate(graph.successors[node]):
            if after not in inside:
                continue
            state, step = (after, missing & ~(1 << of[tid])), LtsStep(node, tid, after)
            if state == (entry, 0):
                walk, link = [step], reached[here]
                while link is not None:
                    walk.append(link[1])
                    link = reached[link[0]]
                return tuple(reversed(walk))
            if state not in reached:
                reached[state] = (here, step)
                queue.append(state)
    raise AssertionError("a strongly connected set has a closed walk over its steps")


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


def _exits(graph: ModelLts, groups: Sequence[int], strong: bool) -> Iterator[Exit]:
    """Why a run leaves each component that has a cycle, for a program that terminates."""
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
        if strong:
            node, leaving = next(
                (node, owed)
                for node in members
                if (owed := _leaving(graph.successors[node], graph.promised[node], groups, inside))
            )
        else:
            owed = next(group for group in _owed(graph.promised, groups, members) if not group & stepping)
            node, leaving = members[0], owed & graph.promised[members[0]]
        tid = next(_threads(leaving))
        yield Exit(tuple(members), promised, stepping, leaving, (LtsStep(node, tid, graph.successors[node][tid]),))


def _mask(threads: Iterable[int]) -> int:
    return sum(1 << tid for tid in threads)


def _threads(mask: int) -> Iterator[int]:
    return (tid for tid in range(mask.bit_length()) if mask >> tid & 1)
