"""Critical cycles of a size as clauses, each once up to rotation and renaming (Alglave et al. 2015, section 4.1).

A cycle has events 0 to n - 1. Edge p leads from event p to event p + 1, the last edge back to event 0. Internal edges
stay in a thread, external ones go to another, and each thread is visited once. Edges to the same location stay at it,
other edges go to another location, and each location is visited once. So threads and locations are runs of edges, and
have no names that could be exchanged.

Variables
    edge(p, e)         edge p is e
    note(p, a)         event p has annotation a
    shared(p)          the location of event p is in shared memory
    same(l, p, q)      the threads of events p < q are in one group of level l (cta, gpu)
    item(p, k, j)      edge p is part j of the k-th sequence asked for; only where sequences or inline annotations are

Constraints
    every position has one edge, every event one annotation that fits; consecutive edges fit
    the halves of an atomic operation have annotations that go together, and of synonymous annotations only one
    the last edge is external, so that event 0 begins a thread; at least two edges are external
    one edge to another location alone cannot come back: the cycle has none, or two or more
    no edge composes with the next into another: rf;fr is co, fr;co is fr, co;co is co, po and fences go on; where
        communication may compose, some edge is of another kind, for in memory's order communication only goes on
    no edge is plain program order where communication within the thread, if that is asked for, is its synonym
    at most so many accesses a thread and a location; the two halves of an atomic operation count as one
    groups are equivalences, narrower ones within wider ones; a thread is in one group; shared memory is of one cta
    of the rotations that begin a thread, the least in lexicographic order: of edges, annotations, regions, groups

The size is about n^2 (E + A + n^2) clauses for E edges and A annotations, where interchangeable ones count once
(``constraints.patterns``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise, permutations, product
from typing import TypeVar

from constraints.formula import Clause, Formula
from constraints.loop import SolverEffort, solutions
from constraints.patterns import Pattern
from constraints.solvers import DEFAULT_SOLVER
from corpus.cycles.cycle import Cycle
from corpus.cycles.edges import (
    COMMUNICATION,
    PLAIN,
    Annotation,
    Edge,
    EdgeVocabulary,
    atomic_mode,
    composed,
    inner_communication,
)
from corpus.litmus.locations import Region
from corpus.litmus.orders import SCOPES, Place

DIY7_EDGES = 3
"""The limit of edges within a thread that diy7 has by default, without its ``-ins``."""

Item = TypeVar("Item", Edge, Annotation)


@dataclass(frozen=True, slots=True)
class CycleBounds:
    """The bounds of the critical cycles that are made: their edges, annotations, scope tree, regions and sizes.

    ``levels``: the levels of the scope tree that vary, of ``cta`` and ``gpu``; threads are in a CTA each and on one GPU
    where they do not. ``regions``: memory that locations may be in. A thread, and a location, has at most so many
    accesses. With ``compositions``, communication may follow communication that it composes with, as rf;fr is co.

    ``diy7``: the cycles of diy7's ``-mode critical`` (herdtools7, gen/alt.ml ``choice_critical``) in the place of these
    rules and bounds. Edges within a thread and edges between threads alternate, except that Co or Fr may be followed by
    Rf, and Rmw may stand anywhere; inside a sequence that was asked for, any edges may follow each other. A thread has
    at most ``DIY7_EDGES`` edges, a location at most two writes, for more would have to be observed, and two threads or
    more go to another location. Example: a cycle may have `Fre Rfi` and `Rfe PosRR`, but not `PosWW PodWR`, `Fre Coe`
    or `Coe PosWW`.
    """

    vocabulary: EdgeVocabulary
    levels: tuple[str, ...] = ()
    regions: tuple[Region, ...] = (Region.GLOBAL,)
    threads: tuple[int, int] | None = None
    thread_accesses: int = 2
    location_accesses: int = 3
    compositions: bool = False
    diy7: bool = False

    def apart(self, one: Edge, other: Edge) -> str:
        """The reason, in words, why an edge may not be followed by another that fits it; empty where it may."""
        if self.diy7:
            free = "Rmw" in (one.kind, other.kind) or (one.kind in ("Co", "Fr") and other.kind == "Rf")
            where = "within a thread" if one.internal else "between threads"
            return "" if free or one.internal != other.internal else f"are both {where}"
        kind = composed(one, other)
        return "" if not kind or (self.compositions and kind in COMMUNICATION) else f"are {kind.lower()} themselves"

    def alike(self) -> tuple[list[tuple[Edge, ...]], list[tuple[Annotation, ...]]]:
        """The groups of edges, and of annotations, that no constraint tells apart; each group in ascending order.

        Edges are alike that join the same accesses in the same way, compose with the same edges, and may come anywhere.
        Annotations are alike that fit the same accesses, where no edge asks for one and no atomic operation for two
        that go together.
        """
        runs = self.vocabulary.runs
        bare = sorted({edge.bare for run in runs for edge in run})
        tied = {edge.bare for run in runs if len(run) > 1 or run[0] != run[0].bare for edge in run}
        atomic = any(edge.kind == "Rmw" for edge in bare)

        def composing(one: Edge, other: Edge) -> bool:
            """Whether they would compose, where they can meet at all."""
            long = one.internal and other.internal and self.thread_accesses < 3 and not atomic and not self.diy7
            return one.target == other.source and not long and bool(self.apart(one, other))

        def marks(edge: Edge) -> tuple[object, ...]:
            if edge in tied or edge.kind == "Rmw" or inner_communication(edge):
                return (edge,)
            ends = (edge.source, edge.target, edge.internal, edge.same, edge.kind in COMMUNICATION)
            return (ends, *((composing(edge, other), composing(other, edge)) for other in bare))

        def uses(note: Annotation) -> tuple[object, ...]:
            free = not atomic and not any(edge.first or edge.second for run in runs for edge in run)
            listed = tuple(note in _listed(self.vocabulary, access) for access in "RW")
            return (note.fits, listed) if free else (note,)

        return _grouped(bare, marks), _grouped(_annotations(self.vocabulary), uses)


class CycleEncoding:
    """The formula of the critical cycles of ``size`` edges, an ``Encoding`` of the synthesis loop."""

    def __init__(self, bounds: CycleBounds, size: int, formula: Formula | None = None) -> None:
        """Writes the clauses to ``formula``, or to a new formula where none is given."""
        self.size = size
        self.formula = Formula() if formula is None else formula
        self._bounds = bounds
        self.edges = sorted({edge.bare for run in bounds.vocabulary.runs for edge in run})
        self.annotations = _annotations(bounds.vocabulary)
        self._pairs: dict[tuple[str, int, int], int] = {}
        if not self.edges:
            self.formula.add()
            return
        self._positions_have_edges()
        self._events_are_annotated()
        self._sequences_are_whole()
        self._atomics_are_said_once()
        self._threads_and_locations_close()
        self._nothing_composes()
        self._steps_are_said_once()
        self._accesses_are_few()
        self._groups_are_equivalences()
        self._regions_follow_locations()
        self._least_rotation()
        self._pairs = {
            (level, one, other): self.same(level, one, other)
            for level in bounds.levels
            for one, other in combinations(range(size), 2)
        }

    # Names

    def edge(self, position: int, edge: Edge) -> int:
        """The literal that an edge, given without annotations, is at a position."""
        return self.formula.var("edge", position % self.size, edge)

    def note(self, event: int, annotation: Annotation) -> int:
        """The literal that an event has an annotation."""
        return self.formula.var("note", event % self.size, annotation)

    def shared(self, event: int) -> int:
        """The literal that an event accesses shared memory."""
        return self.formula.var("shared", event % self.size)

    def same(self, level: str, one: int, other: int) -> int:
        """The literal that the threads of two events are in one group of a level of the scope tree."""
        one, other = sorted((one % self.size, other % self.size))
        return self.formula.var("same", level, one, other)

    def joined(self, name: str, position: int) -> int:
        """The literal that edge ``position`` stays in a thread (``name`` is "internal"), stays at a location
        ("same"), or leads from a write ("write")."""
        return self.formula.var("is", name, position % self.size)

    # Constraints

    def _positions_have_edges(self) -> None:
        for position in range(self.size):
            self.formula.exactly_one([self.edge(position, edge) for edge in self.edges])
            for edge in self.edges:
                literal = self.edge(position, edge)
                for name, truth in (("internal", edge.internal), ("same", edge.same)):
                    self.formula.add(-literal, self.joined(name, position) if truth else -self.joined(name, position))
                self.formula.add(-literal, *(self.edge(position + 1, e) for e in self.edges if e.source == edge.target))

    def _events_are_annotated(self) -> None:
        for event in range(self.size):
            self.formula.exactly_one([self.note(event, annotation) for annotation in self.annotations])
            for edge in self.edges:
                fitting = [note for note in self.annotations if edge.source in note.fits]
                self.formula.add(-self.edge(event, edge), *(self.note(event, note) for note in fitting))

    def _sequences_are_whole(self) -> None:
        """Edges come in the runs that were asked for, and annotations from the list or from an edge beside them."""
        runs = self._bounds.vocabulary.runs
        parts = [(number, part) for number, run in enumerate(runs) for part in range(len(run))]
        for position in range(self.size):
            items = {(k, j): self.formula.var("item", position, k, j) for k, j in parts}
            self.formula.add(*items.values())
            for one, other in combinations(items.values(), 2):
                self.formula.add(-one, -other)
            for (k, j), item in items.items():
                edge = runs[k][j]
                self.formula.add(-item, self.edge(position, edge.bare))
                for event, annotation in ((position, edge.first), (position + 1, edge.second)):
                    if annotation is not None:
                        self.formula.add(-item, self.note(event, annotation))
                if j + 1 < len(runs[k]):
                    self.formula.add(-item, self.formula.var("item", (position + 1) % self.size, k, j + 1))
                if j > 0:
                    self.formula.add(-item, self.formula.var("item", (position - 1) % self.size, k, j - 1))
        for event in range(self.size):
            for access in "RW":
                listed = _listed(self._bounds.vocabulary, access)
                halves = _half_listed(self._bounds.vocabulary, access)
                atomic = [self.edge(event - (access == "W"), edge) for edge in self.edges if edge.kind == "Rmw"]
                sources = [edge for edge in self.edges if edge.source == access]
                for note in self.annotations:
                    if note not in listed:
                        reasons = [*self._requesting_edges(event, note), *(atomic if note in halves else ())]
                        for edge in sources:
                            self.formula.add(-self.edge(event, edge), -self.note(event, note), *reasons)

    def _requesting_edges(self, event: int, note: Annotation) -> list[int]:
        """The edges beside an event that ask for an annotation of it."""
        return [
            self.formula.var("item", (event - back) % self.size, k, j)
            for k, run in enumerate(self._bounds.vocabulary.runs)
            for j, edge in enumerate(run)
            for back, literals in enumerate((edge.first, edge.second))
            if literals == note
        ]

    def _atomics_are_said_once(self) -> None:
        """Requires, of synonymous listed annotations, as plain and relaxed ones are, those that are least plain."""
        reads, writes = (_half_listed(self._bounds.vocabulary, access) for access in "RW")
        listed = sorted(product(reads, writes), key=lambda pair: (pair.count(PLAIN), pair))
        kept = {atomic_mode(*pair): pair for pair in reversed(listed)}
        for position in range(self.size):
            for one, other in product(self.annotations, repeat=2):
                mode = atomic_mode(one, other)
                if mode is None:
                    reasons = []
                elif kept.get(mode, (one, other)) != (one, other):
                    reasons = [*self._requesting_edges(position, one), *self._requesting_edges(position + 1, other)]
                else:
                    continue
                notes = [-self.note(position, one), -self.note(position + 1, other)]
                for edge in self.edges:
                    if edge.kind == "Rmw":
                        self.formula.add(-self.edge(position, edge), *notes, *reasons)

    def _threads_and_locations_close(self) -> None:
        positions = range(self.size)
        self.formula.add(-self.joined("internal", self.size - 1))
        self.formula.add(*(-self.joined("internal", position) for position in positions[:-1]))
        for position in positions:
            others = (-self.joined("same", other) for other in positions if other != position)
            self.formula.add(self.joined("same", position), *others)
        if self._bounds.diy7:
            self._two_threads_change_location()
            self._two_writes_a_location()
        if self._bounds.threads is not None:
            self._count_threads(*self._bounds.threads)

    def _two_threads_change_location(self) -> None:
        """Requires that not all edges to another location are in one thread."""
        for start in range(self.size):
            for end in range(start, start + min(DIY7_EDGES, self.size - 1) + 1):
                within = [-self.joined("internal", position) for position in range(start, end)]
                others = range(end, start + self.size)
                self.formula.add(*within, *(-self.joined("same", position) for position in others))

    def _two_writes_a_location(self) -> None:
        """No three writes are joined by edges to the same location; ``is(write, p)``: event p is a write."""
        for event in range(self.size):
            for edge in self.edges:
                if edge.source == "W":
                    self.formula.add(-self.edge(event, edge), self.joined("write", event))
        for one in range(self.size):
            for two, three in combinations(range(one + 1, one + self.size), 2):
                apart = [-self.joined("same", position) for position in range(one, three)]
                self.formula.add(*(-self.joined("write", event) for event in (one, two, three)), *apart)

    def _count_threads(self, least: int, most: int) -> None:
        """External edges by a sequential counter: ``count(p, k)``, at least k among the first p."""
        count = self.formula.var
        for position in range(self.size):
            external = -self.joined("internal", position)
            for k in range(most + 2):
                now, after = count("count", position, k), count("count", position + 1, k)
                self.formula.add(-now, after)
                self.formula.add(-after, now, external)
                if k:
                    less = count("count", position, k - 1)
                    self.formula.add(-less, -external, after)
                    self.formula.add(-after, now, less)
        for k in range(most + 2):
            self.formula.add(count("count", 0, k) if k == 0 else -count("count", 0, k))
        self.formula.add(count("count", self.size, least))
        self.formula.add(-count("count", self.size, most + 1))

    def _nothing_composes(self) -> None:
        for position in range(self.size):
            for one in self.edges:
                for other in self.edges:
                    if self._bounds.apart(one, other):
                        meet = self._asked_together(position, one, other) if self._bounds.diy7 else []
                        self.formula.add(-self.edge(position, one), -self.edge(position + 1, other), *meet)
        if self._bounds.compositions:
            others = [edge for edge in self.edges if edge.kind not in COMMUNICATION]
            self.formula.add(*(self.edge(position, edge) for position in range(self.size) for edge in others))

    def _asked_together(self, position: int, one: Edge, other: Edge) -> list[int]:
        """The literals of which one holds where two edges from a position on stand in a sequence that was asked for."""
        return [
            self.formula.var("item", position, k, j)
            for k, run in enumerate(self._bounds.vocabulary.runs)
            for j, (here, there) in enumerate(pairwise(run))
            if (here.bare, there.bare) == (one, other)
        ]

    def _steps_are_said_once(self) -> None:
        """Rfi, Coi and Fri stand for PosWR, PosWW and PosRW where both are asked for by themselves and fit; to diy7
        they are edges of their own.
        """
        for number, run in enumerate(() if self._bounds.diy7 else self._bounds.vocabulary.runs):
            inner = inner_communication(run[0]) if len(run) == 1 and not (run[0].first or run[0].second) else None
            if (inner,) not in self._bounds.vocabulary.runs:
                continue
            assert inner is not None
            before = [edge for edge in self.edges if not self._bounds.apart(edge, inner)]
            after = [edge for edge in self.edges if not self._bounds.apart(inner, edge)]
            for position in range(self.size):
                item = self.formula.var("item", position, number, 0)
                for one, other in product(before, after):
                    self.formula.add(-item, -self.edge(position - 1, one), -self.edge(position + 1, other))

    def _accesses_are_few(self) -> None:
        """Forbids runs of edges with too many accesses; ``run(name, s, d, k)``: d events after s, there are k more.

        No run starts amid an atomic operation, whose halves would count as two where the run goes all around.
        """
        atomic = [edge for edge in self.edges if edge.kind == "Rmw" and not self._bounds.diy7]
        bounds = {"internal": self._bounds.thread_accesses, "same": self._bounds.location_accesses}
        for name, most in ({"internal": DIY7_EDGES + 1} if self._bounds.diy7 else bounds).items():
            for start in range(self.size):
                run = [[self.formula.var("run", name, start, d, k) for k in range(most + 1)] for d in range(self.size)]
                self.formula.add(run[0][0], *(self.edge(start - 1, edge) for edge in atomic))
                for distance in range(self.size - 1):
                    position = start + distance
                    stays = self.joined(name, position)
                    rmw = [self.edge(position, edge) for edge in atomic]
                    for k in range(most):
                        self.formula.add(-run[distance][k], -stays, run[distance + 1][k + 1], *rmw)
                        for literal in rmw:
                            self.formula.add(-run[distance][k], -literal, run[distance + 1][k])
                for distance in range(self.size):
                    self.formula.add(-run[distance][most])

    def _groups_are_equivalences(self) -> None:
        for level in ("cta", "gpu"):
            for one, other in combinations(range(self.size), 2):
                here = self.same(level, one, other)
                if other == one + 1:
                    self.formula.add(-self.joined("internal", one), here)
                if level not in self._bounds.levels:
                    self._fixed(level, one, other)
                elif level == "cta" and "gpu" in self._bounds.levels:
                    self.formula.add(-here, self.same("gpu", one, other))
            for one, middle, other in permutations(range(self.size), 3):
                if one < other:
                    here, there = self.same(level, one, middle), self.same(level, middle, other)
                    self.formula.add(-here, -there, self.same(level, one, other))

    def _fixed(self, level: str, one: int, other: int) -> None:
        """A level that does not vary: all threads on one GPU, each in a CTA of its own."""
        if level == "gpu":
            self.formula.add(self.same(level, one, other))
            return
        for position in range(one, other):
            self.formula.add(-self.same(level, one, other), self.joined("internal", position))

    def _regions_follow_locations(self) -> None:
        for event in range(self.size):
            shared = self.shared(event)
            if Region.SHARED not in self._bounds.regions:
                self.formula.add(-shared)
            if Region.GLOBAL not in self._bounds.regions:
                self.formula.add(shared)
            stays, after = self.joined("same", event), self.shared(event + 1)
            self.formula.add(-stays, -shared, after)
            self.formula.add(-stays, shared, -after)
            if self.size > 1:
                self.formula.add(-stays, -shared, self.same("cta", event, event + 1))

    def _least_rotation(self) -> None:
        pairs = list(combinations(range(self.size), 2))
        for turn in range(1, self.size):
            equal = -self.joined("internal", turn - 1)  # the rotation begins a thread
            for step, (ours, theirs) in enumerate(self._components(turn, pairs)):
                following = self.formula.var("equal", turn, step)
                for rank, literal in enumerate(ours):
                    self.formula.add(-equal, -literal, *theirs[rank:])
                    self.formula.add(-equal, -literal, -theirs[rank], following)
                equal = following

    def _components(self, turn: int, pairs: Sequence[tuple[int, int]]) -> Iterator[tuple[list[int], list[int]]]:
        """The compared parts of the cycle and of its rotation, each as the literals of its values in ascending
        order."""
        for event in range(self.size):
            there = event + turn
            yield [self.edge(event, edge) for edge in self.edges], [self.edge(there, edge) for edge in self.edges]
        for event in range(self.size):
            there = event + turn
            notes = self.annotations
            yield [self.note(event, note) for note in notes], [self.note(there, note) for note in notes]
        for event in range(self.size):
            ours, theirs = self.shared(event), self.shared(event + turn)
            yield [-ours, ours], [-theirs, theirs]
        for level in self._bounds.levels:
            for one, other in pairs:
                ours, theirs = self.same(level, one, other), self.same(level, one + turn, other + turn)
                yield [-ours, ours], [-theirs, theirs]

    # Solutions

    def decode(self, model: Sequence[int]) -> Cycle:
        """The critical cycle of a model of the formula; ``model[v - 1]`` is the literal of variable ``v``."""

        def true(literal: int) -> bool:
            return model[literal - 1] == literal

        events = range(self.size)
        edges = tuple(next(edge for edge in self.edges if true(self.edge(event, edge))) for event in events)
        notes = tuple(next(note for note in self.annotations if true(self.note(event, note))) for event in events)
        regions = tuple(Region.SHARED if true(self.shared(event)) else Region.GLOBAL for event in events)
        same = {pair: true(literal) for pair, literal in self._pairs.items()}
        return Cycle(edges, notes, regions, _places(edges, same, self._bounds.levels))

    def refine(self, model: Sequence[int], solution: Cycle) -> Sequence[Clause]:
        """No clauses, since every model of the formula is a critical cycle."""
        return ()

    def block(self, solution: Cycle) -> list[Clause]:
        """The blocking clauses of a cycle: one for each rotation whose edges come first, for one of these is the
        formula's."""
        rotations = list(solution.rotations())
        least = min(rotation.edges for rotation in rotations)
        return [[-literal for literal in self.literals(rotation)] for rotation in rotations if rotation.edges == least]

    def literals(self, cycle: Cycle) -> Iterator[int]:
        """The literals that hold together in exactly one cycle, a given one, from event 0 on."""
        for event in range(self.size):
            yield self.edge(event, cycle.edges[event])
            yield self.note(event, cycle.annotations[event])
            yield self.shared(event) if cycle.regions[event] is Region.SHARED else -self.shared(event)
        homes = [place for events, place in zip(cycle.threads(), cycle.places, strict=True) for _ in events]
        for (level, one, other), literal in self._pairs.items():
            depth = SCOPES[level].value
            yield literal if homes[one][:depth] == homes[other][:depth] else -literal


def _grouped(items: Sequence[Item], marks: Callable[[Item], tuple[object, ...]]) -> list[tuple[Item, ...]]:
    """The items by what they have in common, in their order."""
    groups: dict[tuple[object, ...], list[Item]] = {}
    for item in items:
        groups.setdefault(marks(item), []).append(item)
    return [tuple(group) for group in groups.values()]


def _annotations(vocabulary: EdgeVocabulary) -> list[Annotation]:
    inline = [note for run in vocabulary.runs for edge in run for note in (edge.first, edge.second) if note]
    halves = [note for access in "RW" for note in _half_listed(vocabulary, access)]
    atomic = any(edge.kind == "Rmw" for run in vocabulary.runs for edge in run)
    return sorted({*_listed(vocabulary, "R"), *_listed(vocabulary, "W"), *inline, *(halves if atomic else ())})


def _listed(vocabulary: EdgeVocabulary, access: str) -> list[Annotation]:
    """The annotations that a read or a write may have without an edge that says so."""
    return [note for note in vocabulary.annotations if access in note.fits] or [PLAIN]


def _half_listed(vocabulary: EdgeVocabulary, access: str) -> list[Annotation]:
    """The annotations that half of an atomic operation may have without an edge that says so; they have no cache
    operator and are not volatile."""
    return [note for note in _listed(vocabulary, access) if note.scope or note == PLAIN] or [PLAIN]


def _places(edges: Sequence[Edge], same: dict[tuple[str, int, int], bool], levels: Sequence[str]) -> tuple[Place, ...]:
    """The place of each thread, groups numbered by their first thread within the group around them."""
    starts = [event for event in range(len(edges)) if not edges[event - 1].internal]
    gpus: set[int] = set()
    places: list[Place] = []
    for number, start in enumerate(starts):
        mates = {level: [n for n in range(number) if same.get((level, starts[n], start), False)] for level in levels}
        gpu = 0
        if "gpu" in levels:
            gpu = places[mates["gpu"][0]].gpu if mates["gpu"] else len(gpus)
        gpus.add(gpu)
        if mates.get("cta"):
            cta = places[mates["cta"][0]].cta
        else:
            cta = len({place.cta for place in places if place.gpu == gpu})
        warp = sum(place.gpu == gpu and place.cta == cta for place in places)
        places.append(Place(gpu, 0, cta, warp))
    return tuple(places)


def patterns(
    bounds: CycleBounds, size: int, solver_name: str = DEFAULT_SOLVER, effort: SolverEffort | None = None
) -> Iterator[Pattern]:
    """Patterns of the critical cycles of a size, each given as soon as it is found; every cycle is of one of them.

    The solver knows one edge, and one annotation, of those that are alike. When the iterator is exhausted there is no
    other. ``effort`` counts the calls of the solver. Raises ``InputError`` where there is no solver of that name.
    """
    vocabulary = bounds.vocabulary
    alike_edges, alike_annotations = bounds.alike()
    edges, annotations = {group[0]: group for group in alike_edges}, {group[0]: group for group in alike_annotations}
    others = {other for group in edges.values() for other in group[1:]}
    runs = tuple(run for run in vocabulary.runs if len(run) > 1 or run[0] not in others)
    notes = tuple(note for note in vocabulary.annotations if note in annotations)
    firsts = replace(bounds, vocabulary=replace(vocabulary, runs=runs, annotations=notes))
    for found in solutions(CycleEncoding(firsts, size), solver_name, effort=effort):
        yield Pattern.of(found, edges, annotations, bounds.levels)


def cycles(
    bounds: CycleBounds, size: int, solver_name: str = DEFAULT_SOLVER, effort: SolverEffort | None = None
) -> Iterator[Cycle]:
    """Every critical cycle of ``size`` edges, once up to rotation, given as soon as it is found.

    ``effort`` counts the calls of the solver. Raises ``InputError`` where there is no solver of that name.
    """
    for pattern in patterns(bounds, size, solver_name, effort):
        yield from pattern.cycles()


def idle(bounds: CycleBounds, largest: int) -> list[str]:
    """The sequences ``[A,B]`` that no cycle of up to ``largest`` edges can have, each with the reason, in one line."""
    found = []
    for word, runs in bounds.vocabulary.sequences:
        reasons = [_why_idle(run, bounds, largest) for run in runs]
        if all(reasons):
            found.append(f"no cycle has {word}: {reasons[0]}")
    return found


def _why_idle(run: Sequence[Edge], bounds: CycleBounds, largest: int) -> str:
    words = {"R": "a read", "W": "a write"}
    for one, other in pairwise(run):
        if one.target != other.source:
            return f"{one.name} arrives at {words[one.target]}, and {other.name} leads from {words[other.source]}"
        if not bounds.diy7 and (why := bounds.apart(one, other)):
            return f"{one.name} and then {other.name} {why}"
        if None not in (one.second, other.first) and one.second != other.first:
            return f"what {one.name} arrives at and {other.name} leads from would be annotated twice"
    if len(run) > largest:
        return f"it has {len(run)} edges, and cycles have at most {largest}"
    for what, most, stays in (
        ()
        if bounds.diy7
        else (
            ("thread", bounds.thread_accesses, [edge.internal for edge in run]),
            ("location", bounds.location_accesses, [edge.same for edge in run]),
        )
    ):
        accesses = 1
        # The run may be a whole cycle, whose last access is its first.
        closes = what == "location" and all(stays) and run[-1].target == run[0].source
        for edge, stay in zip(run, stays, strict=True):
            accesses = accesses + (edge.kind != "Rmw") if stay else 1
            if accesses > most + closes:
                return f"a {what} would have {accesses} accesses, and has at most {most}"
    return ""
