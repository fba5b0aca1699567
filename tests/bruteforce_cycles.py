"""All critical cycles of a size by plain enumeration: the reference that constraints/cycles.py is held to.

It shares nothing with the encoder and nothing with corpus/cycles/cycle.py. Every closed row of edges, every annotation,
every placement of the threads and every choice of regions is built, and asked rule by rule whether it is a critical
cycle. Of cycles that are rotations of each other, all of which are built, the least stands for all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product

from corpus.cycles.cycle import Cycle
from corpus.cycles.edges import PLAIN, Annotation, Edge, EdgeVocabulary
from corpus.litmus.locations import Region
from corpus.litmus.orders import Order

Groups = tuple[int, ...]
"""To each event the number of its group; groups are numbered by their first event."""


@dataclass(frozen=True, order=True)
class Row:
    """A cycle as bare data. Edge p leads from event p to event p + 1, the last one to event 0."""

    edges: tuple[Edge, ...]
    annotations: tuple[Annotation, ...]
    regions: tuple[Region, ...]
    ctas: Groups
    gpus: Groups

    def rotated(self, turn: int) -> Row:
        parts = (self.edges, self.annotations, self.regions, self.ctas, self.gpus)
        edges, annotations, regions, ctas, gpus = (part[turn:] + part[:turn] for part in parts)
        return Row(edges, annotations, regions, renumbered(ctas), renumbered(gpus))

    def least(self) -> Row:
        return min(self.rotated(turn) for turn in range(len(self.edges)))


def row(cycle: Cycle) -> Row:
    """What the synthesis found, as bare data."""
    place = -1
    ctas, gpus = [], []
    for event in range(len(cycle.edges)):
        place += not cycle.edges[event - 1].internal
        gpus.append(cycle.places[place].gpu)
        ctas.append((cycle.places[place].gpu, cycle.places[place].queue, cycle.places[place].cta))
    assert place == len(cycle.places) - 1
    return Row(cycle.edges, cycle.annotations, cycle.regions, renumbered(ctas), renumbered(gpus))


def all_cycles(
    vocabulary: EdgeVocabulary,
    size: int,
    levels: Sequence[str] = (),
    regions: Sequence[Region] = (Region.GLOBAL,),
    threads: tuple[int, int] | None = None,
    thread_accesses: int = 2,
    location_accesses: int = 3,
    compositions: bool = False,
    diy7: bool = False,
) -> set[Row]:
    """The least rotation of every critical cycle; the arguments are those of ``CycleBounds``."""
    return {
        cycle.least()
        for edges, told in (_diy7_rows(vocabulary, size) if diy7 else _rows(vocabulary, size, compositions))
        if not all(edge.kind in ("Rf", "Fr", "Co") for edge in edges)
        if (_is_diy7s(edges, threads) if diy7 else _is_critical(edges, thread_accesses, location_accesses, threads))
        for notes in _annotations(vocabulary, edges, told)
        for ctas, gpus in _trees(_groups(edges, lambda edge: edge.internal), levels)
        for memory in _memories(_groups(edges, lambda edge: edge.same), ctas, regions)
        for cycle in [Row(edges, notes, memory, ctas, gpus)]
    }


Told = tuple[frozenset[Annotation], ...]
"""To each event the annotations that the edges beside it insist on."""


def _rows(vocabulary: EdgeVocabulary, size: int, compositions: bool) -> Iterator[tuple[tuple[Edge, ...], Told]]:
    """Every row of ``size`` edges, made of runs that were asked for, that closes: a rotation at least of each cycle."""

    def grown(row: tuple[Edge, ...], lengths: tuple[int, ...]) -> Iterator[tuple[tuple[Edge, ...], tuple[int, ...]]]:
        if len(row) == size:
            yield row, lengths
        for run in vocabulary.runs:
            longer = row + run
            if (
                run
                and len(longer) <= size
                and all(_follows(*pair, compositions) for pair in pairwise((*row[-1:], *run)))
            ):
                yield from grown(longer, lengths + (len(run),) * len(run))

    for row, lengths in grown((), ()):
        if _follows(row[-1], row[0], compositions) and not any(
            lengths[p] == 1
            and _says_what_communication_says(vocabulary, row[p - 1], row[p], row[(p + 1) % size], compositions)
            for p in range(size)
        ):
            told = tuple(frozenset({row[p - 1].second, row[p].first}) - {None} for p in range(size))
            yield tuple(replace(edge, first=None, second=None) for edge in row), told


def _diy7_rows(vocabulary: EdgeVocabulary, size: int) -> Iterator[tuple[tuple[Edge, ...], Told]]:
    """The same for diy7's -mode critical, whose rules of what follows what are for what no sequence has together."""

    def grown(row: tuple[Edge, ...]) -> Iterator[tuple[Edge, ...]]:
        if len(row) == size:
            yield row
        for run in vocabulary.runs:
            whole = all(one.target == other.source for one, other in pairwise(run))
            if whole and len(row + run) <= size and (not row or _diy7_follows(row[-1], run[0])):
                yield from grown(row + run)

    for row in grown(()):
        if _diy7_follows(row[-1], row[0]):
            told = tuple(frozenset({row[p - 1].second, row[p].first}) - {None} for p in range(size))
            yield tuple(replace(edge, first=None, second=None) for edge in row), told


def _diy7_follows(one: Edge, other: Edge) -> bool:
    alternate = one.internal is not other.internal
    composed = (one.kind, other.kind) in (("Co", "Rf"), ("Fr", "Rf"))
    return one.target == other.source and (alternate or composed or "Rmw" in (one.kind, other.kind))


def _is_diy7s(edges: Sequence[Edge], threads: tuple[int, int] | None) -> bool:
    """Three edges within a thread (-ins 4), two writes of a location (-obs avoid), two threads that change location."""
    external = sum(not edge.internal for edge in edges)
    if external < 2 or (threads is not None and not threads[0] <= external <= threads[1]):
        return False
    owners, locations = _groups(edges, lambda edge: edge.internal), _groups(edges, lambda edge: edge.same)
    written = [location for location, edge in zip(locations, edges, strict=True) if edge.source == "W"]
    return (
        all(owners.count(owner) <= 4 for owner in owners)
        and all(written.count(location) <= 2 for location in written)
        and len({owner for owner, edge in zip(owners, edges, strict=True) if not edge.same}) > 1
    )


def _says_what_communication_says(
    vocabulary: EdgeVocabulary, before: Edge, edge: Edge, after: Edge, compositions: bool
) -> bool:
    """Whether Rfi, Coi or Fri could stand for a plain step that is asked for by itself: the test would be the same."""
    if edge.kind != "Po" or not edge.same or edge.first or edge.second:
        return False
    return any(
        run == (replace(edge, kind=kind),)
        and _follows(before, run[0], compositions)
        and _follows(run[0], after, compositions)
        for run in vocabulary.runs
        for kind in ("Rf", "Co", "Fr")
    )


def _is_critical(edges: Sequence[Edge], thread_accesses: int, location_accesses: int, threads: int | None) -> bool:
    external = sum(not edge.internal for edge in edges)
    if external < 2 or (threads is not None and not threads[0] <= external <= threads[1]):
        return False
    if sum(not edge.same for edge in edges) == 1:
        return False
    for same, most in ((lambda edge: edge.internal, thread_accesses), (lambda edge: edge.same, location_accesses)):
        groups = _groups(edges, same)
        for group in set(groups):
            inner = [e for e in range(len(edges)) if groups[e] == group]
            halves = sum(edges[event].kind == "Rmw" for event in inner)
            if len(inner) - halves > most:
                return False
    return True


def _follows(one: Edge, other: Edge, compositions: bool) -> bool:
    """Whether an edge may come after another: they meet, and the two in one go are not an edge themselves, unless they
    are communication that may compose."""
    meanings = [(one.kind, other.kind)]
    if one.internal and other.internal:
        meanings.append((_in_memory(one), _in_memory(other)))
    return one.target == other.source and not any(
        (first in ("Po", "Fence") and second in ("Po", "Fence"))
        or (not compositions and (first, second) in (("Rf", "Fr"), ("Co", "Co"), ("Fr", "Co")))
        for first, second in meanings
    )


def _in_memory(edge: Edge) -> str:
    """What a step within a thread is for the one location that it stays in."""
    if edge.kind == "Po" and edge.same:
        return {"WR": "Rf", "WW": "Co", "RW": "Fr", "RR": "Po"}[edge.source + edge.target]
    return edge.kind


def _groups(edges: Sequence[Edge], joins: Callable[[Edge], bool]) -> Groups:
    """The events that edges of a kind join, one with the next."""
    groups = list(range(len(edges)))
    for _ in edges:
        for event, edge in enumerate(edges):
            after = (event + 1) % len(edges)
            if joins(edge):
                groups[event] = groups[after] = min(groups[event], groups[after])
    return renumbered(groups)


def _annotations(vocabulary: EdgeVocabulary, edges: Sequence[Edge], told: Told) -> Iterator[tuple[Annotation, ...]]:
    """What is told, and what is listed where nothing is told; atomic operations only as they can be, and said once."""
    size = len(edges)
    choices = []
    for event, edge in enumerate(edges):
        listed = [note for note in vocabulary.annotations if edge.source in note.fits] or [PLAIN]
        if "Rmw" in (edge.kind, edges[event - 1].kind):
            listed = [note for note in listed if note.scope or note == PLAIN] or [PLAIN]
        choices.append([note for note in sorted({*listed, *told[event]}) if told[event] <= {note}])
    for notes in product(*choices):
        pairs = [(e, (e + 1) % size) for e in range(size) if edges[e].kind == "Rmw"]
        for read, write in pairs:
            mode = _atomic(notes[read], notes[write])
            others = [
                (one, other)
                for one, other in product(choices[read], choices[write])
                if _atomic(one, other) == mode
                and (one == PLAIN) + (other == PLAIN) < (notes[read], notes[write]).count(PLAIN)
            ]
            if mode is None or (others and not told[read] and not told[write]):
                break
        else:
            yield notes


def _atomic(read: Annotation, write: Annotation) -> tuple[str, str, str] | None:
    """What an atomic operation of these halves says: its scope, and the order of each half."""
    if read.cache or write.cache or read.volatile or write.volatile:
        return None
    if read.scope and write.scope and read.scope != write.scope:
        return None
    if (read.order is Order.SC) != (write.order is Order.SC):
        return None
    orders = (Order.RELAXED if half.order is Order.WEAK else half.order for half in (read, write))
    return (read.scope or write.scope or "gpu", *orders)


def _trees(threads: Groups, levels: Sequence[str]) -> Iterator[tuple[Groups, Groups]]:
    """To each event its CTA and its GPU, in every way: each thread in a CTA and all on one GPU, where that is fixed."""
    count = max(threads) + 1
    apart, together = tuple(range(count)), (0,) * count
    for gpus in _partitions(count) if "gpu" in levels else [together]:
        for ctas in _partitions(count) if "cta" in levels else [apart]:
            if all(
                gpus[one] == gpus[other] for one in range(count) for other in range(count) if ctas[one] == ctas[other]
            ):
                yield (
                    renumbered([ctas[thread] for thread in threads]),
                    renumbered([gpus[thread] for thread in threads]),
                )


def _partitions(count: int) -> Iterator[Groups]:
    """Every way to put things into groups."""
    yield from {renumbered(choice) for choice in product(range(count), repeat=count)}


def _memories(locations: Groups, ctas: Groups, regions: Sequence[Region]) -> Iterator[tuple[Region, ...]]:
    """Every region for every location; what is shared is used by one CTA."""
    for chosen in product(regions, repeat=max(locations) + 1):
        memory = tuple(chosen[location] for location in locations)
        users = {
            (location, cta) for location, cta, where in zip(locations, ctas, memory, strict=True) if where == "shared"
        }
        if len(users) == len({location for location, _ in users}):
            yield memory


def renumbered(labels: Sequence[object]) -> Groups:
    """Groups numbered by their first member."""
    numbers: dict[object, int] = {}
    return tuple(numbers.setdefault(label, len(numbers)) for label in labels)
