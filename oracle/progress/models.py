"""Progress models and their verdicts (Sorensen et al. 2021, sections 2.2 and 4, Table 1).

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
from functools import cache, lru_cache
from types import MappingProxyType

from corpus.progress.axb import Program
from oracle.graphs import components
from oracle.progress.behaviour import Behaviour
from oracle.progress.lts import ENDED, explore

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
    """A named guarantee, read weakly or strongly. ``name`` ends in ``-weak`` or ``-strong``.

    ``digest`` names the text of a user's model; it is empty for what is part of synth.
    """

    name: str
    guarantee: Guarantee
    strong: bool
    digest: str = ""


def both_readings(name: str, guarantee: Guarantee, digest: str = "") -> tuple[ProgressModel, ProgressModel]:
    """The weak and the strong model of a guarantee."""
    return (
        ProgressModel(f"{name}-weak", guarantee, False, digest),
        ProgressModel(f"{name}-strong", guarantee, True, digest),
    )


MODELS: dict[str, ProgressModel] = {
    model.name: model for name, guarantee in GUARANTEES.items() for model in both_readings(name, guarantee)
}
"""The 12 models of Sorensen et al. 2021 in the order of its tables: from unfair to fair, weak before strong."""


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

    ``system`` holds rows of successors, as in ``Lts`` or ``oracle.progress.behaviour.Behaviour``.
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


class Panel:
    """Guarantees that are asked together: a set of them is a bit mask, bit ``g`` for the ``g``-th."""

    def __init__(self, guarantees: Sequence[Guarantee]) -> None:
        self.guarantees = tuple(guarantees)
        self.everyone = (1 << len(self.guarantees)) - 1
        self._promises: dict[tuple[int, int], tuple[dict[int, int], int]] = {}

    def promises(self, running: int, stepped: int) -> tuple[dict[int, int], int]:
        """For each thread that some guarantee promises execution, the guarantees that do; and those that promise
        nothing."""
        known = self._promises.get((running, stepped))
        if known is None:
            by_thread: dict[int, int] = {}
            silent = 0
            for g, guarantee in enumerate(self.guarantees):
                fair_threads = guarantee(running, stepped)
                if not fair_threads:
                    silent |= 1 << g
                for tid in range(fair_threads.bit_length()):
                    if fair_threads >> tid & 1:
                        by_thread[tid] = by_thread.get(tid, 0) | 1 << g
            known = self._promises[running, stepped] = by_thread, silent
        return known


def hangs(history: History, panel: Panel) -> tuple[int, int]:
    """The guarantees of a panel under which a program may hang: read weakly, and read strongly.

    Weakly: some component with an edge holds a step of every promised thread. Strongly: some node cannot *escape*,
    that is, promised steps alone lead neither to the end nor to a node where nothing is promised; or a cycle runs
    through nodes where nothing is promised.
    """
    weak = strong = 0
    escapes = [0] * len(history.states)
    for members, movers in zip(history.components, history.movers, strict=True):
        running = history.running[members[0]]
        if not running:
            escapes[members[0]] = panel.everyone
            continue
        promises, silent = panel.promises(running, history.stepped[members[0]])
        if movers:
            strong |= silent
            starving = panel.everyone
            for tid, guarantees in promises.items():
                if not movers >> tid & 1:
                    starving &= ~guarantees
            weak |= starving
        growing = True
        while growing:
            growing = False
            for node in members:
                row = history.successors[node]
                found = escapes[node] | silent
                for tid, guarantees in promises.items():
                    found |= guarantees & escapes[row[tid]]
                if found != escapes[node]:
                    escapes[node] = found
                    growing = len(members) > 1
        for node in members:
            strong |= panel.everyone & ~escapes[node]
    return weak, strong


def verdicts(program: Program, models: Iterable[ProgressModel] = tuple(MODELS.values())) -> dict[str, Verdict]:
    """What each model says of a program, by model name, in the order of ``models``."""
    models = list(models)
    weak, strong = hangs(unfold(explore(program).successors), Panel([model.guarantee for model in models]))
    return {
        model.name: _verdict((strong if model.strong else weak) >> number & 1) for number, model in enumerate(models)
    }


def _verdict(hang: int) -> Verdict:
    return Verdict.MAY_HANG if hang else Verdict.TERMINATES


# Images of a program under permutation of its threads, all judged at once.

Permutation = tuple[int, ...]
"""A permutation: thread ``t`` of the image is thread ``order[t]`` of the program."""

Vector = Mapping[str, Verdict]
"""The verdicts of the 12 models, by name."""


def image_verdicts(automaton: Behaviour, orders: tuple[Permutation, ...]) -> list[Vector]:
    """What the 12 models say of the images of every program with this behaviour, image by image.

    A model sees who runs and who steps, never memory, so programs with equal minimal automata have equal verdicts.
    """
    weak, strong = _image_hangs(automaton, orders)
    width = len(GUARANTEES)
    mask = (1 << width) - 1
    return [_vector(weak >> i * width & mask, strong >> i * width & mask) for i in range(len(orders))]


@lru_cache(maxsize=1 << 16)  # the reductions of many tests have few behaviours
def _image_hangs(automaton: Behaviour, orders: tuple[Permutation, ...]) -> tuple[int, int]:
    return hangs(unfold(automaton), _image_panel(orders))


@cache
def _image_panel(orders: tuple[Permutation, ...]) -> Panel:
    return Panel([_seen_in(order, guarantee) for order in orders for guarantee in GUARANTEES.values()])


def _seen_in(order: Permutation, guarantee: Guarantee) -> Guarantee:
    """The guarantee as the threads of a program see it when they run in the places that an order gives them."""

    def seen(running: int, stepped: int) -> int:
        fair_places = guarantee(_places(order, running), _places(order, stepped))
        return sum(1 << tid for place, tid in enumerate(order) if fair_places >> place & 1)

    return seen


def _places(order: Permutation, threads: int) -> int:
    return sum(1 << place for place, tid in enumerate(order) if threads >> tid & 1)


@cache
def _vector(weak: int, strong: int) -> Vector:
    """The 12 verdicts from the sets of guarantees, in the order of ``GUARANTEES``, under which a program may hang."""
    vector = {}
    for g, name in enumerate(GUARANTEES):
        for model, mask in zip(both_readings(name, GUARANTEES[name]), (weak, strong), strict=True):
            vector[model.name] = _verdict(mask >> g & 1)
    return MappingProxyType(vector)
