"""Critical cycles, their names, and the litmus tests that ask for them (Alglave et al. 2015, sections 4.1 and 4.5).

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

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from corpus.cycles.edges import COMMUNICATION, Annotation, Edge, atomic_mode, inner_communication
from corpus.laws.ptx import MEMBARS
from corpus.litmus.made import STRONG, location_name, masked, observer
from corpus.litmus.normal import renumbered
from corpus.litmus.test import (
    PLAIN,
    And,
    Assign,
    Atom,
    Branch,
    Comparison,
    Condition,
    Fence,
    FinalRegister,
    Instruction,
    Label,
    LitmusTest,
    Load,
    Loc,
    Location,
    Operand,
    Order,
    Place,
    Quantifier,
    Reg,
    Region,
    Rmw,
    Store,
    Thread,
)


@dataclass(frozen=True, slots=True)
class Cycle:
    """Edge p leads from event p to event p + 1, the last back to event 0, which begins a thread.

    ``annotations`` and ``regions`` belong to events, ``places`` to threads in the order of the cycle.
    """

    edges: tuple[Edge, ...]
    annotations: tuple[Annotation, ...]
    regions: tuple[Region, ...]
    places: tuple[Place, ...]

    @property
    def size(self) -> int:
        """Number of edges, and of events."""
        return len(self.edges)

    def access(self, event: int) -> str:
        """``R`` or ``W``."""
        return self.edges[event].source

    def in_atomic(self, event: int) -> bool:
        """Whether an event is the read or the write of an atomic operation."""
        return "Rmw" in (self.edges[event - 1].kind, self.edges[event].kind)

    def threads(self) -> list[list[int]]:
        """The events of each thread, in program order."""
        found: list[list[int]] = []
        for event in range(self.size):
            if not self.edges[event - 1].internal:
                found.append([])
            found[-1].append(event)
        return found

    def locations(self) -> list[list[int]]:
        """The events of each location in the order of the cycle, the location of event 0 first."""
        start = next((event for event in range(self.size) if not self.edges[event - 1].same), 0)
        found: list[list[int]] = []
        for event in (*range(start, self.size), *range(start)):
            if not found or not self.edges[event - 1].same:
                found.append([])
            found[-1].append(event)
        return sorted(found, key=min)

    def rotations(self) -> Iterator[Cycle]:
        """The cycle from the first event of each thread, this one first."""
        for number, (start, *_) in enumerate(self.threads()):
            yield Cycle(
                self.edges[start:] + self.edges[:start],
                self.annotations[start:] + self.annotations[:start],
                self.regions[start:] + self.regions[:start],
                tuple(renumbered(self.places[number:] + self.places[:number])),
            )

    @property
    def spelled(self) -> str:
        """The edges by name, with the annotations of both ends where there are any: what ``--edges`` would take."""
        return " ".join(
            edge.name
            + "".join(
                note.name
                for note in (self.annotations[event], self.annotations[(event + 1) % self.size])
                if any(annotation.name != "Plain" for annotation in self.annotations)
            )
            for event, edge in enumerate(self.edges)
        )


# Values


def _histories(cycle: Cycle) -> list[list[int]]:
    """The events of each location in the order in which memory has them, locations as ``Cycle.locations`` has them.

    That is the order of the cycle. A cycle of one location must go back once: at its first step that can be nothing but
    program order, or else the first that can.
    """
    histories = cycle.locations()
    if len(histories) == 1:
        (events,) = histories
        steps = [place for place, event in enumerate(events) if cycle.edges[event].kind not in COMMUNICATION]
        back = min(steps, key=lambda place: inner_communication(cycle.edges[events[place]]) is not None) + 1
        histories = [events[back:] + events[:back]]
    return histories


def _values(cycle: Cycle) -> tuple[dict[int, int], list[list[int]]]:
    """The value of every event, and the writes of every location in coherence order."""
    values: dict[int, int] = {}
    orders: list[list[int]] = []
    for history in _histories(cycle):
        writes: list[int] = []
        for event in history:
            writes += [event] * (cycle.access(event) == "W")
            values[event] = len(writes)
        orders.append(writes)
    return values, orders


# Tests


def litmus_test(cycle: Cycle) -> LitmusTest:
    """The test of an oriented cycle: its condition holds exactly where the cycle is there."""
    values, orders = _values(cycle)
    names = {event: location_name(number) for number, events in enumerate(cycle.locations()) for event in events}
    threads = [_Writer(cycle, values, names).thread(number, events) for number, events in enumerate(cycle.threads())]
    atoms = [
        Atom("eq", FinalRegister(number, f"r{event}"), values[event])
        for number, events in enumerate(cycle.threads())
        for event in events
        if cycle.access(event) == "R"
    ]
    for number, order in enumerate(orders):
        if len(order) > 1:
            atoms.append(Atom("eq", Loc(location_name(number)), len(order)))
        if len(order) > 2:
            places = [thread.place for thread in threads]
            homes = [cycle.places[home] for home, events in enumerate(cycle.threads()) if set(events) & set(order)]
            atoms += [Atom("eq", FinalRegister(len(threads), f"r{rank}"), rank) for rank in range(1, len(order))]
            mode = STRONG if _are_strong(cycle, order) else PLAIN
            threads.append(observer(location_name(number), len(order), mode, homes, places))
    locations = tuple(
        Location(location_name(number), region=cycle.regions[events[0]])
        for number, events in enumerate(cycle.locations())
    )
    condition = Condition(Quantifier.EXISTS, And(tuple(atoms)) if len(atoms) != 1 else atoms[0])
    return LitmusTest(cycle_name(cycle), tuple(threads), locations, condition, cycle.spelled)


def _are_strong(cycle: Cycle, writes: list[int]) -> bool:
    return all(cycle.annotations[e].scope or cycle.annotations[e].volatile or cycle.in_atomic(e) for e in writes)


class _Writer:
    """Writes the instructions of a thread; the register ``r5`` holds what event 5 reads, ``d5`` what depends on it."""

    def __init__(self, cycle: Cycle, values: dict[int, int], names: dict[int, str]) -> None:
        self._cycle = cycle
        self._values = values
        self._names = names

    def thread(self, number: int, events: list[int]) -> Thread:
        body: list[Instruction] = []
        skipped = False
        for place, event in enumerate(events):
            before = self._cycle.edges[event - 1] if place else None
            if before is not None and before.kind == "Rmw":
                continue
            body += self._between(before, event)
            body += self._access(before, event, place + 1 < len(events))
            if before is not None and before.kind == "Ctrl":
                skipped = True
        if skipped:
            body.append(Label("LC0"))
        return Thread(tuple(body), self._cycle.places[number])

    def _between(self, before: Edge | None, event: int) -> Iterator[Instruction]:
        """What stands between two accesses."""
        if before is None:
            return
        if before.kind == "Fence":
            yield Fence(before.fence)
        if before.kind in ("Addr", "Data", "Ctrl"):
            source = event - 1
            yield masked(f"d{source}", f"r{source}")
        if before.kind == "Ctrl":
            yield Branch("LC0", Comparison("ne", Reg(f"d{event - 1}"), 0))

    def _access(self, before: Edge | None, event: int, more: bool) -> Iterator[Instruction]:
        cycle = self._cycle
        address: Operand = Loc(self._names[event])
        value: Operand = self._values[event]
        if before is not None and before.kind == "Addr":
            yield Assign(f"a{event}", "add", (address, Reg(f"d{event - 1}")))
            address = Reg(f"a{event}")
        if before is not None and before.kind == "Data":
            yield Assign(f"v{event}", "add", (Reg(f"d{event - 1}"), value))
            value = Reg(f"v{event}")
        mode = cycle.annotations[event].mode
        if cycle.edges[event].kind == "Rmw" and more:
            both = atomic_mode(*cycle.annotations[event : event + 2])
            assert both is not None, cycle.spelled
            yield Rmw("exch", f"r{event}", address, (self._values[event + 1],), both)
        elif cycle.access(event) == "R":
            yield Load(f"r{event}", address, mode)
        else:
            yield Store(address, value, mode)


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
"""What each thread does and how it leads to the next, and the name that diy and the papers after it have for that."""

_COHERENCE = {"W rf RR fr": "CoRR", "W rf RW co": "CoRW"}
"""The same for cycles of one location."""


def _shape(cycle: Cycle) -> tuple[str, ...]:
    shape: list[str] = []
    for events in cycle.threads():
        shape += ["".join(map(cycle.access, events)), cycle.edges[events[-1]].kind.lower()]
    return tuple(shape)


def _known_shapes(cycle: Cycle) -> dict[str, str]:
    return _COHERENCE if all(edge.same for edge in cycle.edges) else _SHAPES


def family(name: str) -> str:
    """The classic name that a test's name begins with, as ``MP`` of ``MP+membar.gl+po``; empty where there is none."""
    decorations = ("+", "@", ".shared-")
    classic = [*_SHAPES.values(), *_COHERENCE.values()]
    found = [known for known in classic if f"{name}+".startswith(tuple(known + mark for mark in decorations))]
    return max(found, key=len, default="")


def oriented(cycle: Cycle) -> Cycle:
    """The cycle from the thread where its classic shape begins; as it is where it has none."""
    known = _known_shapes(cycle)
    return next((turned for turned in cycle.rotations() if " ".join(_shape(turned)) in known), cycle)


def cycle_name(cycle: Cycle) -> str:
    """The name of the test of an oriented cycle; different cycles have different names."""
    threads = cycle.threads()
    shape = _shape(cycle)
    text = _known_shapes(cycle).get(" ".join(shape), ".".join(shape))
    inner = [".".join(map(_between_name, map(cycle.edges.__getitem__, events[:-1]))) for events in threads]
    decorations = [name for name, events in zip(inner, threads, strict=True) if len(events) > 1]
    if set(decorations) != {"pos" if text in _COHERENCE.values() else "po"}:
        text += _joined(decorations)
    notes = [[cycle.annotations[event].name.lower() for event in events] for events in threads]
    if any(name != "plain" for names in notes for name in names):
        text += "+" + "+".join("-".join(names) for names in notes)
    regions = [cycle.regions[events[0]] for events in cycle.locations()]
    return text + tree_name(cycle.places) + region_name(regions)


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
            return kind.lower() + same


def _joined(parts: list[str]) -> str:
    if len(set(parts)) == 1 and len(parts) > 1:
        return f"+{parts[0]}s"
    return "+" + "+".join(parts)


def tree_name(places: Sequence[Place]) -> str:
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
