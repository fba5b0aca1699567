"""Progress models and their verdicts (seed 004, sections 2.2 and 4, Table 1).

A *guarantee* says which threads are promised fair execution: a function of who is running and who has taken a step.
A *model* is a guarantee read weakly or strongly:

- weak: a test may hang when some reachable strongly connected component of its LTS has an edge and every guaranteed
  thread takes a step inside it (Listing 1);
- strong: a test terminates when from every reachable state, steps of guaranteed threads alone can reach the end or a
  state where nothing is guaranteed, in which some thread is still scheduled (Listing 2); and no reachable cycle runs
  through such states only, for on it nobody is owed an escape.

Both readings need the guaranteed set to be constant on a cycle. It is: on a cycle nobody ends and nobody takes a first
step, and a guarantee sees nothing else. The last clause of the strong reading never applies to HSA, OBE, LOBE and
fair; it is what makes every cycle a hang under *unfair*.

Gap: a model whose promise depends on more than these two sets (an age, a priority that changes) cannot be said here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from types import MappingProxyType

from corpus.axb import Program
from oracle.behaviour import Behaviour
from oracle.lts import ENDED, components, explore

Guarantee = Callable[[int, int], int]
"""``(running, stepped) -> fair``: bit masks over thread ids. ``running`` has not ended, ``stepped`` has taken a step;
``fair`` is promised execution and must be a part of ``running``."""


class Verdict(StrEnum):
    """What a progress model says of a test. UNKNOWN is a time-out and is never folded into another."""

    TERMINATES = "TERMINATES"
    MAY_HANG = "MAY_HANG"
    UNKNOWN = "UNKNOWN"


def unfair(running: int, stepped: int) -> int:
    """Nothing is promised to anybody."""
    return 0


def hsa(running: int, stepped: int) -> int:
    """The lowest thread that has not ended (Heterogeneous System Architecture)."""
    return running & -running


def obe(running: int, stepped: int) -> int:
    """Threads that have taken a step and not ended (Occupancy-Bound Execution)."""
    return running & stepped


def hsa_obe(running: int, stepped: int) -> int:
    """The union of HSA's and OBE's promises."""
    return hsa(running, stepped) | obe(running, stepped)


def lobe(running: int, stepped: int) -> int:
    """OBE, and every thread with a lower id than one that has taken a step (Linear OBE)."""
    return running & ((1 << stepped.bit_length()) - 1)


def fair(running: int, stepped: int) -> int:
    """Every thread that has not ended."""
    return running


GUARANTEES: dict[str, Guarantee] = {
    "unfair": unfair,
    "hsa": hsa,
    "obe": obe,
    "hsa+obe": hsa_obe,
    "lobe": lobe,
    "fair": fair,
}


@dataclass(frozen=True, slots=True)
class ProgressModel:
    """A named guarantee, read weakly or strongly. ``name`` ends in ``-weak`` or ``-strong``."""

    name: str
    guarantee: Guarantee
    strong: bool


def both_readings(name: str, guarantee: Guarantee) -> tuple[ProgressModel, ProgressModel]:
    """The weak and the strong model of a guarantee."""
    return ProgressModel(f"{name}-weak", guarantee, False), ProgressModel(f"{name}-strong", guarantee, True)


MODELS: dict[str, ProgressModel] = {
    model.name: model for name, guarantee in GUARANTEES.items() for model in both_readings(name, guarantee)
}
"""The 12 models of seed 004 in the order of its tables: from unfair to fair, weak before strong."""


@dataclass(frozen=True, slots=True)
class History:
    """A transition system unfolded by who has taken a step, and its strongly connected components.

    Node 0 is the start. ``states[n]`` is the state of the system at node ``n``; ``running[n]`` and ``stepped[n]`` are
    the masks of threads that have not ended and that have taken a step; ``successors[n][t]`` as in ``Lts``.
    ``components`` are in reverse topological order, and ``movers[i]`` is the mask of threads that take a step from
    component ``i`` into itself, 0 where it has no edge. This one graph serves every model, for the two sets that a
    guarantee sees are constant on a component.
    """

    states: list[int]
    running: list[int]
    stepped: list[int]
    successors: list[tuple[int, ...]]
    components: list[list[int]]
    movers: list[int]

    def promised(self, node: int, guarantee: Guarantee) -> int:
        """Mask of the threads that are guaranteed fair execution at ``node``."""
        return guarantee(self.running[node], self.stepped[node])


def unfold(system: Sequence[tuple[int, ...]]) -> History:
    """The history graph of a system: every reachable pair of a state and the set of threads that have taken a step.

    ``system`` holds rows of successors, as in ``Lts`` or ``oracle.behaviour.Behaviour``.
    """
    width = len(system[0])
    masks = [sum(1 << tid for tid, after in enumerate(row) if after != ENDED) for row in system]
    index = {0: 0}
    states, stepped = [0], [0]
    successors: list[tuple[int, ...]] = []
    for node, state in enumerate(states):  # grows while we walk it
        row = []
        seen = stepped[node]
        for tid, after in enumerate(system[state]):
            if after == ENDED:
                row.append(ENDED)
                continue
            mask = seen | 1 << tid
            key = after << width | mask
            number = index.get(key)
            if number is None:
                number = index[key] = len(states)
                states.append(after)
                stepped.append(mask)
            row.append(number)
        successors.append(tuple(row))
    found = components(successors)
    running = [masks[state] for state in states]
    return History(states, running, stepped, successors, found, [_movers(successors, members) for members in found])


def _movers(successors: list[tuple[int, ...]], members: list[int]) -> int:
    if len(members) == 1 and members[0] not in successors[members[0]]:
        return 0
    mask = 0
    for node in members:
        for tid, after in enumerate(successors[node]):
            if after in members:
                mask |= 1 << tid
    return mask


def starving_component(history: History, guarantee: Guarantee) -> list[int] | None:
    """Weak reading: a component with an edge in which every promised thread takes a step, or ``None``."""
    for members, movers in zip(history.components, history.movers, strict=True):
        if movers and not history.promised(members[0], guarantee) & ~movers:
            return members
    return None


def stuck_nodes(history: History, guarantee: Guarantee) -> list[int] | None:
    """Strong reading: nodes of one component that cannot escape, or ``None`` where every reachable node can.

    A node escapes when promised steps alone lead to the end or to a node where nothing is promised; a node where
    nothing is promised is stuck only when a cycle runs through it.
    """
    escapes = [False] * len(history.states)
    for members, movers in zip(history.components, history.movers, strict=True):
        promised = history.promised(members[0], guarantee)
        if not promised:
            if movers:
                return members
            escapes[members[0]] = True
            continue
        if len(members) == 1:
            node = members[0]
            for tid, after in enumerate(history.successors[node]):
                if promised >> tid & 1 and escapes[after]:
                    escapes[node] = True
            if not escapes[node]:
                return members
            continue
        moves = [
            (node, after)
            for node in members
            for tid, after in enumerate(history.successors[node])
            if promised >> tid & 1 and after != node
        ]
        waiting = len(members)
        while waiting:
            before = waiting
            for node, after in moves:
                if escapes[after] and not escapes[node]:
                    escapes[node] = True
                    waiting -= 1
            if waiting == before:
                return [node for node in members if not escapes[node]]
    return None


def judge(history: History, model: ProgressModel) -> Verdict:
    """What one model says of a program whose history graph is given."""
    trap = (stuck_nodes if model.strong else starving_component)(history, model.guarantee)
    return Verdict.TERMINATES if trap is None else Verdict.MAY_HANG


def verdicts(program: Program, models: Iterable[ProgressModel] = tuple(MODELS.values())) -> dict[str, Verdict]:
    """What each model says of a program, by model name, in the order of ``models``."""
    history = unfold(explore(program).successors)
    return {model.name: judge(history, model) for model in models}


@lru_cache(maxsize=1 << 16)  # equal automata come in numbers: in images of a test, in reductions of many tests
def behaviour_verdicts(automaton: Behaviour) -> Mapping[str, Verdict]:
    """What each of the 12 models says of every program with this behaviour.

    A model sees who runs and who steps, never memory, so programs with equal minimal automata have equal verdicts.
    """
    history = unfold(automaton)
    return MappingProxyType({model.name: judge(history, model) for model in MODELS.values()})
