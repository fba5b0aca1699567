"""Progress models and their verdicts on programs (Sorensen et al. 2021, sections 2.2 and 4, Table 1).

Worked example: thread 0 spins until memory cell 0 is not 0, and thread 1 stores 1 to it.

>>> from corpus.progress.text import parse_axb
>>> program = parse_axb('''
... THREAD 0
... 0: if (Mem[0] == 0) goto 0;
... THREAD 1
... 0: Mem[0] = 1;
... ''')
>>> models = [MODELS["hsa-weak"], MODELS["fair-weak"]]
>>> [f"{name}: {verdict}" for name, verdict in verdicts(program, models).items()]
['hsa-weak: MAY_HANG', 'fair-weak: TERMINATES']

HSA promises fair execution to the lowest thread that has not ended. That is thread 0, which goes round for ever while
nobody runs thread 1. Under *fair* thread 1 is promised execution as well. With the threads exchanged, the writer is the
lowest thread, and once it has ended the waiter is:

>>> program = parse_axb('''
... THREAD 0
... 0: Mem[0] = 1;
... THREAD 1
... 0: if (Mem[0] == 0) goto 0;
... ''')
>>> [f"{name}: {verdict}" for name, verdict in verdicts(program, models).items()]
['hsa-weak: TERMINATES', 'fair-weak: TERMINATES']

A *guarantee* says which threads are promised fair execution: a function of who is running and who has taken a step.
A *model* is a guarantee read weakly or strongly:

- weak: a test may hang when some reachable strongly connected component of its LTS has an edge and every guaranteed
  thread takes a step inside it (Listing 1);
- strong: a test terminates when from every reachable state, steps of guaranteed threads alone can reach the end or a
  state where nothing is guaranteed, in which some thread is still scheduled (Listing 2); and no reachable cycle runs
  through such states only, for on it nobody is owed an escape.

In an AXB program the guaranteed set is constant on a cycle: no thread ends or takes its first step there, and a
guarantee sees nothing else. A thread that waits at a barrier (``oracle.progress.system``) is not running while it
waits, and comes to run again. Where the set varies so, the readings are justice and its strong counterpart:

- weak: no thread is guaranteed all along the component without a step inside it;
- strong: no strongly connected set of states with an edge keeps every step that its states guarantee inside.

Where the set is constant, these are Listings 1 and 2. States that guarantee nothing make every cycle through them
alone a hang, as under *unfair*; HSA, OBE, LOBE and fair have no such cycle.

Gap: a model whose promise depends on more than these two sets (an age, a priority that changes) cannot be said here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache, lru_cache, reduce, wraps
from operator import and_, or_
from types import MappingProxyType
from typing import TYPE_CHECKING

from corpus.graphs import closed_components, components
from corpus.hierarchy import Places
from corpus.progress.axb import Program, places_of
from oracle.progress.behaviour import Behaviour
from oracle.progress.lts import explore, explore_up_to
from oracle.progress.system import NO_STEP, Rows, having_steps
from oracle.promises import LevelPromise, PlacedPromise, Promise, delegate_choices, delegations

if TYPE_CHECKING:
    from oracle.progress.fast.arrays import Table

Guarantee = Callable[[int, int], int]
"""``(running, stepped) -> fair``: bit masks over thread ids. ``running`` has neither ended nor waits at a barrier,
``stepped`` has taken a step; ``fair`` is promised execution and must be a part of ``running``."""


class Verdict(StrEnum):
    """The verdict of a progress model on a test. UNKNOWN is a time-out and is never folded into another verdict."""

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


STEPPINGS = ("independent", "lockstep", "lockstep.taken", "lockstep.fallthrough", "maximal")
"""The ways in which the lanes of one subgroup step, by name (``oracle.progress.stepping``)."""


def split_stepping(name: str) -> tuple[str, str]:
    """Return a model's name without its stepping, and the stepping, empty where there is none: ``fair & lockstep``."""
    model, _, last = name.rpartition("&")
    return (model.strip(), last.strip()) if last.strip() in STEPPINGS and model.strip() else (name, "")


GUARANTEES: dict[str, Guarantee] = {
    "unfair": unfair,
    "hsa": hsa,
    "obe": obe,
    "hsa+obe": hsa_obe,
    "lobe": lobe,
    "fair": fair,
}


def nobody_alone(running: int, stepped: int) -> int:
    """A promise to sets of threads, at several levels; it has no meaning before the threads have places."""
    raise AssertionError("a composed model promises execution to sets of threads: place it, and ask for its sets")


@dataclass(frozen=True, slots=True)
class ProgressModel:
    """A named guarantee, read weakly or strongly. ``name`` ends in ``-weak`` or ``-strong``.

    ``digest`` names the text of a user's model; it is empty for a model that ships. ``levels``: promises at levels of
    the execution hierarchy, outermost first, for a test that places its threads; none: each thread for itself.
    ``placed``: where there are several levels, their promise to the threads at their places. ``stepping``: how lanes of
    one subgroup step, one of ``STEPPINGS``; empty: as independent threads.
    """

    name: str
    guarantee: Guarantee
    strong: bool
    digest: str = ""
    levels: tuple[LevelPromise, ...] = ()
    placed: PlacedPromise | None = None
    stepping: str = ""

    def among(self, places: Sequence[Sequence[int]]) -> ProgressModel:
        """The model of a test whose threads are at these places: its promise as threads see it.

        A group is running where a thread of it is, and has taken a step where one of its threads has. All threads that
        run in a group of the innermost level that is promised execution are promised execution.
        """
        if not self.levels:
            return self
        placed = _placed(self.levels, tuple(tuple(place) for place in places))
        if len(self.levels) == 1:
            return replace(self, guarantee=_to_each(placed, self.levels[0].guarantee))
        return replace(self, placed=placed)

    @property
    def promise(self) -> Promise:
        """The promise to threads: the guarantee, or that of several levels to sets of threads."""
        return self.guarantee if self.placed is None else self.placed


@lru_cache(maxsize=1 << 10)  # tests have few placements
def _placed(levels: tuple[LevelPromise, ...], places: Places) -> PlacedPromise:
    return PlacedPromise(levels, places)


def _to_each(placed: PlacedPromise, guarantee: Guarantee) -> Guarantee:
    @wraps(guarantee)
    def seen(running: int, stepped: int) -> int:
        return sum(placed.sets(running, stepped))

    return seen


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
    the masks of threads that have a step to take and that have taken one; ``successors[n][t]`` as in ``Lts``.
    ``components`` are in reverse topological order, and ``movers[i]`` is the mask of threads that take a step from
    component ``i`` into itself, 0 where it has no edge. ``chances`` lead to nodes, and are no edges. This one graph
    serves every model, for a guarantee sees nothing else.
    """

    states: list[int]
    running: list[int]
    stepped: list[int]
    successors: list[tuple[int, ...]]
    components: list[list[int]]
    movers: list[int]
    chances: list[tuple[int, ...]]

    def cyclic(self) -> Iterator[int]:
        """The numbers of the components that have an edge, and threads that run."""
        for number, (members, movers) in enumerate(zip(self.components, self.movers, strict=True)):
            if movers and self.running[members[0]]:
                yield number

    def promised(self, node: int, guarantee: Guarantee) -> int:
        """Mask of the threads that are guaranteed fair execution at ``node``."""
        return guarantee(self.running[node], self.stepped[node])


def unfold(system: Rows, chances: Rows = ()) -> History:
    """The history graph of a system: every reachable pair of a state and the set of threads that have taken a step.

    ``system`` holds rows of successors, and ``chances`` others, as ``oracle.progress.system.TransitionSystem`` has
    them; every ``oracle.progress.behaviour.Behaviour`` is such rows.
    """
    width = len(system[0])
    masks = [having_steps(row) for row in system]
    index = {0: 0}
    states, stepped = [0], [0]
    successors: list[tuple[int, ...]] = []
    others: list[tuple[int, ...]] = []
    for node, state in enumerate(states):  # grows during the walk
        seen = stepped[node]
        for rows, made in ((system, successors), (chances, others)) if chances else ((system, successors),):
            row = []
            for tid, after in enumerate(rows[state]):
                if after == NO_STEP:
                    row.append(NO_STEP)
                    continue
                mask = seen | 1 << tid
                key = after << width | mask
                number = index.get(key)
                if number is None:
                    number = index[key] = len(states)
                    states.append(after)
                    stepped.append(mask)
                row.append(number)
            made.append(tuple(row))
    found = components(successors)
    running = [masks[state] for state in states]
    movers = [_movers(successors, members) for members in found]
    return History(states, running, stepped, successors, found, movers, others)


def _movers(successors: list[tuple[int, ...]], members: list[int]) -> int:
    if len(members) == 1 and members[0] not in successors[members[0]]:
        return 0
    inside = set(members)
    mask = 0
    for node in members:
        for tid, after in enumerate(successors[node]):
            if after in inside:
                mask |= 1 << tid
    return mask


_Promises = tuple[dict[int, int], int]


class Panel:
    """Several guarantees that are asked together: a set of them is a bit mask, bit ``g`` for the ``g``-th."""

    def __init__(self, guarantees: Sequence[Guarantee]) -> None:
        self.guarantees = tuple(guarantees)
        self.everyone = (1 << len(self.guarantees)) - 1
        self._promises: dict[tuple[int, int], _Promises] = {}

    def promises(self, running: int, stepped: int) -> _Promises:
        """The guarantees that promise execution to each thread, by thread, and the guarantees that promise nothing."""
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

    Weakly: no thread is promised at every node of some component that has an edge, and takes no step inside it.
    Strongly: some component holds a set of nodes that a run need never leave.
    """
    weak = strong = 0
    for number, (members, movers) in enumerate(zip(history.components, history.movers, strict=True)):
        if not history.running[members[0]]:
            continue
        views = _views(history, number, panel)  # asked everywhere: a user's guarantee answers for what it may be asked
        if not movers:
            continue
        starving, trapped = _hangs_in(history, number, panel, views, ~strong)
        weak |= starving
        strong |= trapped
    return weak, strong


def _views(history: History, number: int, panel: Panel) -> dict[int, _Promises]:
    """The promises of a panel at the nodes of a component, by who is running there."""
    members = history.components[number]
    stepped = history.stepped[members[0]]  # equal at all of them, and so is running where nobody waits
    return {running: panel.promises(running, stepped) for running in {history.running[node] for node in members}}


def _hangs_in(
    history: History, number: int, panel: Panel, views: Mapping[int, _Promises], wanted: int
) -> tuple[int, int]:
    """The guarantees under which a run may stay in a component: weakly, and of those ``wanted`` strongly."""
    members, movers = history.components[number], history.movers[number]
    starving = panel.everyone
    first, *others = [promises for promises, _ in views.values()]
    for tid, guarantees in first.items():
        if not movers >> tid & 1:
            for promises in others:
                guarantees &= promises.get(tid, 0)
            starving &= ~guarantees
    trapped, unclear = _trapping(history, members, views)
    strong = panel.everyone & trapped
    unclear &= wanted & ~strong
    for g, guarantee in enumerate(panel.guarantees):
        if unclear >> g & 1 and _has_trap(history, members, guarantee):
            strong |= 1 << g
    return starving, strong


def delegates_of_hang(history: History, model: ProgressModel) -> Guarantee | None:
    """The choice of delegates with which a program may hang under a placed model of several levels, as a guarantee that
    promises execution to them; None where the program terminates.

    A promise to a set of threads is one to a thread of it, its *delegate*. Who that is, is the scheduler's choice, and
    the same wherever the set is promised.
    """
    assert model.placed is not None
    for number in history.cyclic():
        members = history.components[number]
        stepped = history.stepped[members[0]]
        views = sorted({history.running[node] for node in members})
        choices = [
            {(running, stepped): mask for running, mask in zip(views, chosen, strict=True)}
            for chosen in delegate_choices([model.placed.sets(running, stepped) for running in views])
        ]
        panel = Panel([_of_table(choice) for choice in choices])
        hanging = _hangs_in(history, number, panel, _views(history, number, panel), -1)[model.strong]
        if hanging:
            chosen = choices[(hanging & -hanging).bit_length() - 1]
            return lowest_delegates(model.placed, chosen)
    return None


def _of_table(promised: Mapping[tuple[int, int], int]) -> Guarantee:
    return lambda running, stepped: promised[running, stepped]


def lowest_delegates(placed: PlacedPromise, chosen: Mapping[tuple[int, int], int] = MappingProxyType({})) -> Guarantee:
    """The promise to delegates as a guarantee: to those ``chosen`` in some situations, by ``(running, stepped)``, in
    others to the lowest threads that have one of each set."""

    def seen(running: int, stepped: int) -> int:
        known = chosen.get((running, stepped))
        return delegations(placed.sets(running, stepped))[0] if known is None else known

    return seen


def _trapping(history: History, members: list[int], views: Mapping[int, _Promises]) -> tuple[int, int]:
    """The guarantees that, read strongly, let a run stay in a component for ever, and those where that is unclear.

    A guarantee does that promises nothing at any of its nodes; and one whose promised steps lead from some node neither
    out of the component nor to a node where nothing is promised. It is unclear where it promises nothing at some of the
    nodes only. What a set of guarantees has more than the panel is of no meaning.
    """
    silences = [silent for _, silent in views.values()]
    always, sometimes = reduce(and_, silences), reduce(or_, silences)
    place = {node: number for number, node in enumerate(members)}
    steps = []
    for node in members:
        promises, _ = views[history.running[node]]
        row = history.successors[node]
        steps.append([(place.get(row[tid]), guarantees) for tid, guarantees in promises.items()])
    escapes = [views[history.running[node]][1] for node in members]
    growing = True
    while growing:
        growing = False
        for number, promised in enumerate(steps):
            found = escapes[number]
            for inside, guarantees in promised:
                found |= guarantees if inside is None else guarantees & escapes[inside]
            if found != escapes[number]:
                escapes[number] = found
                growing = len(members) > 1
    return always | ~reduce(and_, escapes), sometimes & ~always


def _has_trap(history: History, members: list[int], guarantee: Guarantee) -> bool:
    """Whether a component holds a strongly connected set of nodes with an edge that no promised step leaves."""
    owed = history.successors.copy()
    for node in members:
        promised = history.promised(node, guarantee)
        owed[node] = tuple(after if promised >> tid & 1 else NO_STEP for tid, after in enumerate(owed[node]))
    return any(closed_components(history.successors, owed, members))


LARGE = 512
"""The number of states above which a system is judged in arrays; for smaller ones, loading numpy would take longer."""


def verdicts(program: Program, models: Iterable[ProgressModel] = tuple(MODELS.values())) -> dict[str, Verdict]:
    """The verdict of each model on a program, by model name, in the order of ``models``."""
    places = places_of(program)
    models = [model.among(places) for model in models]
    lts = explore_up_to(program, LARGE)
    if lts is not None:
        return system_verdicts(lts.successors, models)
    from oracle.progress.fast.arrays import explore_arrays

    table = explore_arrays(program)
    return system_verdicts(explore(program).successors, models) if table is None else _verdicts_in_arrays(table, models)


def system_verdicts(
    system: Rows, models: Iterable[ProgressModel] = tuple(MODELS.values()), chances: Rows = ()
) -> dict[str, Verdict]:
    """The verdict of each model on a transition system, given as its rows of successors and, if any, of chances.

    Models of several levels are placed among the system's threads.
    """
    if len(system) > LARGE:
        from oracle.progress.fast.arrays import MOST_THREADS, as_table

        if len(system[0]) <= MOST_THREADS:
            return _verdicts_in_arrays(as_table(system), models, as_table(chances) if chances else None)
    return _verdicts_on(unfold(system, chances), list(models))


def _verdicts_on(history: History, models: Sequence[ProgressModel]) -> dict[str, Verdict]:
    alone = [model for model in models if model.placed is None]
    verdicts_of: dict[str, Verdict] = {}
    if alone:
        verdicts_of = _verdicts(alone, *hangs(history, _panel(tuple(model.guarantee for model in alone))))
    for model in models:
        if model.placed is not None:
            verdicts_of[model.name] = _verdict(delegates_of_hang(history, model) is not None)
    return {model.name: verdicts_of[model.name] for model in models}


@lru_cache(maxsize=8)  # many tests are judged by one set of models, whose promises do not depend on the test
def _panel(guarantees: tuple[Guarantee, ...]) -> Panel:
    return Panel(guarantees)


def _verdicts_in_arrays(
    table: Table, models: Iterable[ProgressModel], chances: Table | None = None
) -> dict[str, Verdict]:
    from oracle.progress.fast.arrays import by_value, hangs_in_arrays

    models = list(models)
    ours = list(GUARANTEES.values())  # arithmetic of bits, which works on arrays as well
    alone = [model for model in models if model.placed is None]
    placed = [model.placed for model in models if model.placed is not None]
    guarantees = [model.guarantee if model.guarantee in ours else by_value(model.guarantee) for model in alone]
    several = [model for model in models if model.placed is not None]
    answers = _verdicts([*alone, *several], *hangs_in_arrays(table, guarantees, chances, placed))
    return {model.name: answers[model.name] for model in models}


def _verdicts(models: Sequence[ProgressModel], weak: int, strong: int) -> dict[str, Verdict]:
    return {
        model.name: _verdict((strong if model.strong else weak) >> number & 1) for number, model in enumerate(models)
    }


def _verdict(hang: int) -> Verdict:
    return Verdict.MAY_HANG if hang else Verdict.TERMINATES


# Images of a program under permutation of its threads, all judged at once.

Permutation = tuple[int, ...]
"""A permutation: thread ``t`` of the image is thread ``order[t]`` of the program."""

Vector = Mapping[str, Verdict]
"""The verdicts of the 12 models, by name; after them those of a user's models, where there are any."""


def image_verdicts(automaton: Behaviour, orders: tuple[Permutation, ...]) -> list[Vector]:
    """The verdicts of the 12 models on the images of every program with this behaviour, image by image.

    A model sees who runs and who steps, never memory, so programs with equal minimal automata have equal verdicts.
    """
    weak, strong = image_hangs(automaton, orders)
    width = len(GUARANTEES)
    mask = (1 << width) - 1
    return [vector_of(weak >> i * width & mask, strong >> i * width & mask) for i in range(len(orders))]


def image_verdicts_with(
    own: tuple[ProgressModel, ...], automaton: Behaviour, orders: tuple[Permutation, ...]
) -> list[Vector]:
    """The verdicts of the 12 models and of a user's models on the images of every program with this behaviour, by
    image."""
    panel = Panel([seen_in(order, model.guarantee) for order in orders for model in own])
    weak, strong = hangs(unfold(automaton), panel)
    return [
        {
            **vector,
            **{
                model.name: _verdict((strong if model.strong else weak) >> (image * len(own) + m) & 1)
                for m, model in enumerate(own)
            },
        }
        for image, vector in enumerate(image_verdicts(automaton, orders))
    ]


@lru_cache(maxsize=1 << 15)  # programs of a suite, and their reductions, have few distinct behaviours
def verdicts_at(own: tuple[ProgressModel, ...], automaton: Behaviour, places: Places) -> Vector:
    """The verdicts of the 12 models and of further ones on every program with this behaviour whose threads are at these
    places."""
    (vector,) = image_verdicts(automaton, (tuple(range(len(places))),))
    return {**vector, **_verdicts_on(_history_of(automaton), [model.among(places) for model in own])}


@lru_cache(maxsize=1 << 12)  # a program is placed in several ways
def _history_of(automaton: Behaviour) -> History:
    return unfold(automaton)


@lru_cache(maxsize=1 << 15)  # the reductions of many tests have few distinct behaviours
def image_hangs(automaton: Behaviour, orders: tuple[Permutation, ...]) -> tuple[int, int]:
    """The guarantees under which the images of a program with this behaviour may hang, read weakly and read
    strongly: for each image as many bits as there are guarantees, those of the first image lowest."""
    return hangs(unfold(automaton), _image_panel(orders))


@cache
def _image_panel(orders: tuple[Permutation, ...]) -> Panel:
    return Panel([seen_in(order, guarantee) for order in orders for guarantee in GUARANTEES.values()])


def seen_in(order: Permutation, guarantee: Guarantee) -> Guarantee:
    """The guarantee as the threads of a program see it when they run in the places that an order gives them."""

    def seen(running: int, stepped: int) -> int:
        fair_places = guarantee(_places(order, running), _places(order, stepped))
        return sum(1 << tid for place, tid in enumerate(order) if fair_places >> place & 1)

    return seen


def _places(order: Permutation, threads: int) -> int:
    return sum(1 << place for place, tid in enumerate(order) if threads >> tid & 1)


@cache
def vector_of(weak: int, strong: int) -> Vector:
    """The 12 verdicts from the sets of guarantees, in the order of ``GUARANTEES``, under which a program may hang."""
    vector = {}
    for g, name in enumerate(GUARANTEES):
        for model, mask in zip(both_readings(name, GUARANTEES[name]), (weak, strong), strict=True):
            vector[model.name] = _verdict(mask >> g & 1)
    return MappingProxyType(vector)
