"""Critical cycles, their names and texts, and the litmus tests that ask for them (Alglave et al. 2015, 4.1 and 4.5).

**Values.** All edges between accesses of one location lead forward in time, wherever each location is coherent, so the
cycle says in which order memory has them. Writes get 1, 2, .. in that order, and a read the value of the write before
it, or 0. Only where the whole cycle is of one location does one step in program order lead back.

**Condition.** Every read has its value, and every location with two writes or more its last. Where three writes or more
meet, a thread of its own observes their order: it reads them one after the other, with a fence of the widest scope
between. Where a model lets writes that race stay unordered, no condition can ask for more.

**Dependencies** and observers are those of ``corpus.litmus.made``.

**Names.** The classic name of the cycle's shape (MP, IRIW, ..), then what each thread does between its accesses where
it is not plain program order, then annotations, then the scope tree (``@01-2``: threads 0 and 1 in one CTA, 2 in
another; ``--`` between GPUs) where it is not one CTA a thread, then locations in shared memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate, chain, count
from typing import NamedTuple

from corpus.cycles.edges import COMMUNICATION, Annotation, Edge, Outline, all_annotations, all_edges, atomic_mode
from corpus.laws.ptx import MEMBARS
from corpus.litmus.instructions import Assign, Branch, Comparison, Fence, Instruction, Label, Load, Rmw, Store
from corpus.litmus.locations import Loc, Location, Operand, Reg, Region
from corpus.litmus.made import STRONG, location_name, masked, observer
from corpus.litmus.normal import renumbered
from corpus.litmus.orders import PLAIN, Order, Place
from corpus.litmus.propositions import And, Atom, Condition, FinalRegister, Quantifier
from corpus.litmus.test import LitmusTest
from corpus.litmus.threads import Thread


class CycleEvent(NamedTuple):
    """An event of a thread of a cycle: its number, its kind ``R`` or ``W``, its location, and the value read or
    written.
    """

    event: int
    kind: str
    location: str
    value: int


class CycleFrame:
    """The outlines of a cycle's edges, shared by all cycles that differ only in what threads do between accesses and in
    how accesses are done.

    The frame decides which thread accesses which location with which value, and the classic name of the shape. It
    leaves out the instructions of the tests.
    """

    def __init__(self, outlines: Sequence[Outline]) -> None:
        self.outlines = outlines
        self.accesses = "".join(outline.source for outline in outlines)
        self.threads = self._threads()
        self.locations = self._locations()
        shape = (("".join(self.accesses[e] for e in t), outlines[t[-1]].kind.lower()) for t in self.threads)
        self.shape = tuple(chain.from_iterable(shape))
        self.named = {event: location_name(n) for n, events in enumerate(self.locations) for event in events}
        known = _COHERENCE if all(outline.same for outline in outlines) else _SHAPES
        self.classic = known.get(" ".join(self.shape), "")
        rotated = (self.shape[2 * n :] + self.shape[: 2 * n] for n in range(len(self.threads)))
        self.begins = next((n for n, shape in enumerate(rotated) if " ".join(shape) in known), 0)
        """The thread where the classic shape begins, or the first thread where the cycle has no classic shape."""

    def _threads(self) -> tuple[tuple[int, ...], ...]:
        found: list[list[int]] = []
        for event in range(len(self.outlines)):
            if not self.outlines[event - 1].internal:
                found.append([])
            found[-1].append(event)
        return tuple(map(tuple, found))

    def _locations(self) -> tuple[tuple[int, ...], ...]:
        size = len(self.outlines)
        start = next((event for event in range(size) if not self.outlines[event - 1].same), 0)
        found: list[list[int]] = []
        for event in (*range(start, size), *range(start)):
            if not found or not self.outlines[event - 1].same:
                found.append([])
            found[-1].append(event)
        return tuple(map(tuple, sorted(found, key=min)))

    def _histories(self) -> tuple[tuple[int, ...], ...]:
        """The events of each location in the order in which memory has them.

        That is the order of the cycle. A cycle of one location must go back once: at its first step that can be nothing
        but program order, or else the first that can.
        """
        if len(self.locations) > 1:
            return self.locations
        (events,) = self.locations
        kinds = [self.outlines[event].kind for event in events]
        steps = [place for place, kind in enumerate(kinds) if kind not in COMMUNICATION]
        back = min(steps, key=lambda place: kinds[place] == "Po") + 1
        return (events[back:] + events[:back],)

    @cached_property
    def values(self) -> Mapping[int, int]:
        """The value of every event: a write has its number among the writes of its location, and a read has that
        of the last write before it.
        """
        found: dict[int, int] = {}
        for history in self._histories():
            writes = accumulate(int(self.accesses[event] == "W") for event in history)
            found.update(zip(history, writes, strict=True))
        return found

    @cached_property
    def orders(self) -> list[list[int]]:
        """The writes of every location in coherence order."""
        return [[event for event in history if self.accesses[event] == "W"] for history in self._histories()]

    @cached_property
    def code(self) -> list[tuple[CycleEvent, ...]]:
        """The accesses of each thread in program order, with their locations and values."""
        return [
            tuple(CycleEvent(event, self.accesses[event], self.named[event], self.values[event]) for event in events)
            for events in self.threads
        ]

    @cached_property
    def condition(self) -> Condition:
        """That every read has its value and every location its last: the condition of the test."""
        atoms = [
            Atom("eq", FinalRegister(number, f"r{event}"), self.values[event])
            for number, events in enumerate(self.threads)
            for event in events
            if self.accesses[event] == "R"
        ]
        observers = count(len(self.threads))
        for number, order in enumerate(self.orders):
            if len(order) > 1:
                atoms.append(Atom("eq", Loc(location_name(number)), len(order)))
            if len(order) > 2:
                observing = next(observers)
                atoms += [Atom("eq", FinalRegister(observing, f"r{rank}"), rank) for rank in range(1, len(order))]
        return Condition(Quantifier.EXISTS, And(tuple(atoms)) if len(atoms) != 1 else atoms[0])


_frame = lru_cache(maxsize=1 << 12)(CycleFrame)


@dataclass(frozen=True)
class Cycle:
    """A critical cycle: edge p leads from event p to event p + 1, the last edge back to event 0, which begins a thread.

    ``annotations`` and ``regions`` belong to events, ``places`` to threads in the order of the cycle.
    """

    edges: tuple[Edge, ...]
    annotations: tuple[Annotation, ...]
    regions: tuple[Region, ...]
    places: tuple[Place, ...]

    @property
    def size(self) -> int:
        """A cycle's size is the number of its edges, which is also the number of its events."""
        return len(self.edges)

    @cached_property
    def frame(self) -> CycleFrame:
        """The frame of a cycle is shared by all cycles with equal outlines of their edges."""
        return _frame(tuple([edge.outline for edge in self.edges]))

    def access(self, event: int) -> str:
        """Return whether an event is a read, ``R``, or a write, ``W``."""
        return self.edges[event].source

    def in_atomic(self, event: int) -> bool:
        """Decide whether an event is the read or the write of an atomic operation."""
        return "Rmw" in (self.edges[event - 1].kind, self.edges[event].kind)

    def threads(self) -> tuple[tuple[int, ...], ...]:
        """Return the events of each thread, in program order."""
        return self.frame.threads

    def locations(self) -> tuple[tuple[int, ...], ...]:
        """Return the events of each location in the order of the cycle, the location of event 0 first."""
        return self.frame.locations

    def rotations(self) -> Iterator[Cycle]:
        """Return the rotations of the cycle that start at the first event of a thread; this cycle comes first."""
        yield from map(self.turned, range(len(self.places)))

    def turned(self, thread: int) -> Cycle:
        """Return the rotation of the cycle that starts at the first event of a thread."""
        start = self.frame.threads[thread][0]
        return Cycle(
            self.edges[start:] + self.edges[:start],
            self.annotations[start:] + self.annotations[:start],
            self.regions[start:] + self.regions[:start],
            renumbered(self.places[thread:] + self.places[:thread]),
        )

    @property
    def spelled(self) -> str:
        """The names of the edges, with the annotations of both ends where there are any, as the option ``--edges``
        takes them.
        """
        names = [edge.name for edge in self.edges]
        if any(note.name != "Plain" for note in self.annotations):
            notes = [note.name for note in self.annotations]
            names = [name + "".join(ends) for name, *ends in zip(names, notes, notes[1:] + notes[:1], strict=True)]
        return " ".join(names)


# Tests


def litmus_test(cycle: Cycle) -> LitmusTest:
    """The test of an oriented cycle: its condition holds exactly where the cycle is there."""
    frame = cycle.frame
    threads = [
        _thread(
            frame.code[number],
            cycle.edges[events[0] : events[-1]],
            cycle.annotations[events[0] : events[-1] + 1],
            cycle.places[number],
        )
        for number, events in enumerate(frame.threads)
    ]
    for number, order in enumerate(frame.orders):
        if len(order) > 2:
            places = [thread.place for thread in threads]
            homes = [cycle.places[home] for home, events in enumerate(frame.threads) if set(events) & set(order)]
            mode = STRONG if _are_strong(cycle, order) else PLAIN
            threads.append(observer(location_name(number), len(order), mode, homes, places))
    locations = _declared(tuple(cycle.regions[events[0]] for events in frame.locations))
    return LitmusTest(cycle_name(cycle), tuple(threads), locations, frame.condition, cycle.spelled)


@lru_cache(maxsize=1 << 12)
def _declared(regions: tuple[Region, ...]) -> tuple[Location, ...]:
    return tuple(Location(location_name(number), region=region) for number, region in enumerate(regions))


def _are_strong(cycle: Cycle, writes: list[int]) -> bool:
    return all(cycle.annotations[e].scope or cycle.annotations[e].volatile or cycle.in_atomic(e) for e in writes)


@lru_cache(maxsize=1 << 12)
def _thread(
    accesses: tuple[CycleEvent, ...],
    between: tuple[Edge, ...],
    annotations: tuple[Annotation, ...],
    place: Place,
) -> Thread:
    """A thread of cycles: its accesses with these annotations, and these edges between them."""
    return Thread(tuple(_Writer(accesses, between, annotations).body()), place)


class _Writer:
    """Writes the instructions of a thread; the register ``r5`` holds what event 5 reads, ``d5`` what depends on it."""

    def __init__(
        self, accesses: Sequence[CycleEvent], between: Sequence[Edge], annotations: Sequence[Annotation]
    ) -> None:
        self._accesses = accesses
        self._steps: list[Edge | None] = [
            None,
            *between,
            None,
        ]  # before the first, from one to the next, after the last
        self._annotations = annotations

    def body(self) -> Iterator[Instruction]:
        skipped = False
        for place, access in enumerate(self._accesses):
            before = self._steps[place]
            if before is not None and before.kind == "Rmw":
                continue
            if before is not None:
                yield from self._between(before, access)
            yield self._access(place)
            if before is not None and before.kind == "Ctrl":
                skipped = True
        if skipped:
            yield Label("LC0")

    def _between(self, before: Edge, access: CycleEvent) -> Iterator[Instruction]:
        """Yield the instructions of a thread between two accesses: fences, and what makes dependencies."""
        event, source = access.event, access.event - 1
        if before.kind in ("Addr", "Data", "Ctrl"):
            yield masked(f"d{source}", f"r{source}")
        if before.kind == "Ctrl":
            yield Branch("LC0", Comparison("ne", Reg(f"d{source}"), 0))
        if before.fenced:
            yield Fence(before.fence)
        if before.kind == "Addr":
            yield Assign(f"a{event}", "add", (Loc(access.location), Reg(f"d{source}")))
        if before.kind == "Data":
            yield Assign(f"v{event}", "add", (Reg(f"d{source}"), access.value))

    def _access(self, place: int) -> Instruction:
        event, kind, location, stored = self._accesses[place]
        before, after = self._steps[place : place + 2]
        led = None if before is None else before.kind
        address: Operand = Reg(f"a{event}") if led == "Addr" else Loc(location)
        value: Operand = Reg(f"v{event}") if led == "Data" else stored
        mode = self._annotations[place].mode
        if after is not None and after.kind == "Rmw":
            both = atomic_mode(*self._annotations[place : place + 2])
            assert both is not None, after.name
            return Rmw("exch", f"r{event}", address, (self._accesses[place + 1].value,), both)
        return Load(f"r{event}", address, mode) if kind == "R" else Store(address, value, mode)


# Names


_SHAPES = {
    "WW rf RR fr": "MP",
    "WR fr WR fr": "SB",
    "RW rf RW rf": "LB",
    "WW rf RW co": "S",
    "WW co WR fr": "R",
    "WW co WW co": "2+2W",
    "W rf RW rf RR fr": "WRC",
    "WW rf RW rf RR fr": "ISA2",
    "W rf RR fr WR fr": "RWC",
    "W rf RW rf RW co": "WWC",
    "W rf RW co WR fr": "WRW+WR",
    "W rf RR fr WW co": "WRR+2W",
    "W rf RW co WW co": "WRW+2W",
    "WW rf RR fr WR fr": "W+RWC",
    "WW rf RW co WR fr": "Z6.0",
    "WW co WW rf RW co": "Z6.1",
    "WW rf RW rf RW co": "Z6.2",
    "WW co WW rf RR fr": "Z6.3",
    "WW co WR fr WR fr": "Z6.4",
    "WW co WW co WR fr": "Z6.5",
    "WR fr WR fr WR fr": "3.SB",
    "RW rf RW rf RW rf": "3.LB",
    "WW co WW co WW co": "3.2W",
    "W rf RR fr W rf RR fr": "IRIW",
    "W rf RR fr W rf RW co": "IRRWIW",
    "W rf RW co W rf RW co": "IRWIW",
}
"""The classic names of shapes, by what each thread does and how it leads to the next, as diy and later papers have
them.
"""

_COHERENCE = {"W rf RR fr": "CoRR", "W rf RW co": "CoRW"}
"""The classic names of cycles of one location, by what each thread does."""


_CLASSIC = (*_SHAPES.values(), *_COHERENCE.values())
_MARKS = ("+", "@", ".shared-")
"""The marks that begin what follows a classic name in the name of a test."""
_DECORATED = tuple(f"{known}{mark}" for known in _CLASSIC for mark in _MARKS)


def family(name: str) -> str:
    """Return the classic name that a test's name begins with, as ``MP`` of ``MP+membar.gl+po``, or an empty text."""
    whole = f"{name}+"
    if not whole.startswith(_DECORATED):  # most are not
        return ""
    return max((known for known in _CLASSIC if whole.startswith(tuple(f"{known}{mark}" for mark in _MARKS))), key=len)


def oriented(cycle: Cycle) -> Cycle:
    """Return the rotation of a cycle that starts at the thread where its classic shape begins; a cycle without a
    classic shape is not changed.
    """
    begins = cycle.frame.begins
    return cycle.turned(begins) if begins else cycle


def cycle_name(cycle: Cycle) -> str:
    """Return the name of the test of an oriented cycle; different cycles have different names."""
    frame = cycle.frame
    text = frame.classic or ".".join(frame.shape)
    decorations = [_steps_name(cycle.edges[events[0] : events[-1]]) for events in frame.threads if len(events) > 1]
    if set(decorations) != {"pos" if text in _COHERENCE.values() else "po"}:
        text += _joined(decorations)
    if any(note.name != "Plain" for note in cycle.annotations):
        notes = ("-".join(cycle.annotations[event].name.lower() for event in events) for events in frame.threads)
        text += "+" + "+".join(notes)
    regions = [cycle.regions[events[0]] for events in frame.locations]
    return text + tree_name(cycle.places) + region_name(regions)


@lru_cache(maxsize=1 << 12)
def _steps_name(steps: tuple[Edge, ...]) -> str:
    """Return the name of what a thread does between its accesses."""
    return ".".join(map(_between_name, steps))


def _between_name(edge: Edge) -> str:
    same = "s" if edge.same and edge.kind not in ("Rf", "Fr", "Co", "Rmw") else ""
    match edge.kind:
        case "Fence":
            membar = next(f"membar.{word}" for word, scope in MEMBARS.items() if scope.label == edge.scope)
            name = membar if edge.order is Order.SC else f"fence.{edge.order}.{edge.scope}"
            return name + "-s" * bool(same)
        case "Po":
            return "po" + same
        case "Rf" | "Fr" | "Co":
            return edge.kind.lower() + "i"
        case kind:
            return kind.lower() + edge.spelled.lower() + same


def _joined(parts: list[str]) -> str:
    if len(set(parts)) == 1 and len(parts) > 1:
        return f"+{parts[0]}s"
    return "+" + "+".join(parts)


@lru_cache(maxsize=1 << 12)
def tree_name(places: tuple[Place, ...]) -> str:
    """The scope tree as a name ends with it: ``@01-2``, nothing where threads are in one CTA each on one GPU."""
    if len({place[:3] for place in places}) == len(places) and len({place.gpu for place in places}) <= 1:
        return ""
    gpus: dict[int, dict[int, list[int]]] = {}
    for number, place in enumerate(places):
        gpus.setdefault(place.gpu, {}).setdefault(place.cta, []).append(number)
    return "@" + "--".join("-".join("".join(map(str, ctas)) for ctas in gpu.values()) for gpu in gpus.values())


def region_name(regions: Sequence[Region]) -> str:
    """Which locations are in shared memory, as a name ends with it: ``.shared-x``."""
    shared = [location_name(number) for number, region in enumerate(regions) if region is Region.SHARED]
    return f".shared-{''.join(shared)}" if shared else ""


def cycle_text(cycle: Cycle) -> str:
    """Edges; annotations and regions of events; places of threads (GPU, queue, CTA, warp): ``Rfe .. | Plain .. |
    global .. | 0.0.0.0 ..``."""
    parts = (
        (edge.name for edge in cycle.edges),
        (annotation.name for annotation in cycle.annotations),
        (region.value for region in cycle.regions),
        (".".join(map(str, place)) for place in cycle.places),
    )
    return " | ".join(map(" ".join, parts))


def parse_cycle(text: str) -> Cycle:
    """The cycle that ``cycle_text`` printed. Raises ``ValueError`` where it is none, as where there is communication
    alone, which only goes on in the order of memory."""
    try:
        edges, annotations, regions, places = (part.split(" ") for part in text.split(" | "))
        cycle = Cycle(
            tuple(all_edges()[name] for name in edges),
            tuple(all_annotations()[name] for name in annotations),
            tuple(map(Region, regions)),
            tuple(Place(*map(int, place.split("."))) for place in places),
        )
    except (KeyError, TypeError):
        raise ValueError("not a cycle") from None
    whole = len(cycle.edges) == len(cycle.annotations) == len(cycle.regions) and not cycle.edges[-1].internal
    whole = whole and any(edge.kind not in COMMUNICATION for edge in cycle.edges)
    if not whole or len(cycle.threads()) != len(cycle.places) or cycle_text(cycle) != text:
        raise ValueError("not a cycle")
    return cycle
