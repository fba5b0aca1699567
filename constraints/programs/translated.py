"""The execution of an unknown program after a translation, as a consistency model sees it: a view with slots for
fences.

Each event of the program has as many slots before and after it as the translation can ask for. Which instruction the
event is, is open. So it is open whether the fence of a slot happens, and what it is. Right before a write that may
become an update there is a slot for the update's read. Accesses, reads-from, coherence and the places of threads are
the program's literals. Two things are new: the order of ``fence.sc``, and what the reads of such updates read, which is
anything.

Variables, and constraints besides those of the program
    fence(f, g)           an order of all slots and fences that may be ``fence.sc``
    read(w, e), read(e)   the read of write e, if it becomes an update, has one source: write w of its location, or the
                          initial value
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

from constraints.circuit import Literal
from constraints.programs.choices import ordered
from constraints.programs.skeleton import ProgramSkeleton
from constraints.programs.view import EventMode, EventModes, ExecutionView, Matrix, SpacedView
from corpus.executions.execution import OpKind as Instruction
from corpus.executions.translation import MappedOp, Translation
from corpus.litmus.orders import Mode, Order
from oracle.executions.events import EventKind


class _Slots:
    """The events of the translated program, each with the event that it belongs to."""

    def __init__(self, unknown: ProgramSkeleton, translation: Translation, view: ExecutionView) -> None:
        self.unknown, self.translation = unknown, translation
        self.circuit = unknown.circuit
        self.owner: list[int] = []
        self.ways: list[EventModes] = []
        self.executed: list[Literal] = []
        self.place: list[int] = []
        self.read: dict[int, int] = {}
        for e in unknown.events:
            self._fences(e, [(literal, targets.before) for literal, targets in self._begun(e)])
            self._read_of_write(e)
            self.place.append(len(self.owner))
            self._itself(e)
            self._fences(e, [(literal, targets.after) for literal, targets in self._ended(e)])
        self.thread = [view.thread[event] for event in self.owner]
        self.initial_writes = view.initial_writes

    def _begun(self, event: int) -> list[tuple[Literal, MappedOp]]:
        """The targets of the translation for each instruction that may begin with an event, with its literal."""
        return [(literal, self.translation.targets[choice]) for choice, literal in self.unknown.starts[event].items()]

    def _ended(self, event: int) -> list[tuple[Literal, MappedOp]]:
        """The targets of the translation for each instruction that may end with an event, with its literal."""
        targets = self.translation.targets
        own = self.unknown.starts[event].items()
        ended = [(literal, targets[choice]) for choice, literal in own if choice[0] is not Instruction.UPDATE]
        if self.unknown.half(event):
            before = self.unknown.starts[event - 1].items()
            ended += [(literal, targets[choice]) for choice, literal in before if choice[0] is Instruction.UPDATE]
        return ended

    def _fences(self, event: int, sequences: Sequence[tuple[Literal, tuple[Mode, ...]]]) -> None:
        for place in range(max((len(modes) for _, modes in sequences), default=0)):
            there = [(literal, modes[place]) for literal, modes in sequences if len(modes) > place]
            self._add(
                event,
                [(literal, EventMode(EventKind.FENCE, mode)) for literal, mode in there],
                len(there) < len(sequences),
            )

    def _read_of_write(self, event: int) -> None:
        ways = [(literal, target.itself) for literal, target in self._begun(event) if target.updates]
        if ways:
            self.read[event] = len(self.owner)
            self._add(event, [(literal, EventMode(EventKind.READ, mode, True)) for literal, mode in ways if mode], True)

    def _itself(self, event: int) -> None:
        ways: list[tuple[Literal, EventMode]] = []
        unknown, targets = self.unknown, self.translation.targets
        some_left_out = False
        for (kind, mode), literal in unknown.starts[event].items():
            target = targets[kind, mode]
            if target.itself is None:
                some_left_out = True
                continue
            rmw = kind is Instruction.UPDATE
            ways.append(
                (
                    literal,
                    EventMode(EventKind.READ if rmw else EventKind(kind.value), target.itself, rmw or target.updates),
                )
            )
        if unknown.half(event):
            for (kind, mode), literal in unknown.starts[event - 1].items():
                if kind is Instruction.UPDATE:
                    done = targets[kind, mode].itself
                    assert done is not None  # the event is an access
                    ways.append((literal, EventMode(EventKind.WRITE, done, True)))
        self._add(event, ways, some_left_out)

    def _add(self, event: int, ways: Sequence[tuple[Literal, EventMode]], perhaps: bool) -> None:
        """An event done in one of these ways; ``perhaps``: or not at all."""
        found: dict[EventMode, list[Literal]] = {}
        for literal, way in ways:
            found.setdefault(way, []).append(literal)
        any_of = self.circuit.any_of
        self.owner.append(event)
        self.ways.append(EventModes(self.circuit, {way: any_of(literals) for way, literals in found.items()}))
        self.executed.append(any_of(literal for literal, _ in ways) if perhaps else self.circuit.true)

    def rows(self, matrix: Matrix) -> list[dict[int, Literal]]:
        """A relation of events as one of their places."""
        rows: list[dict[int, Literal]] = [{} for _ in self.owner]
        for one, row in enumerate(matrix):
            rows[self.place[one]] = {self.place[other]: literal for other, literal in row.items()}
        return rows

    def equivalence(self, matrix: Matrix) -> list[dict[int, Literal]]:
        """An equivalence of accesses, which no slot for a fence is."""
        rows = self.rows(matrix)
        for event, read in self.read.items():
            for other, literal in matrix[event].items():
                for place in (self.place[other], *([self.read[other]] if other in self.read else [])):
                    rows[read][place] = rows[place][read] = literal
        every = range(len(rows)) if self.initial_writes else ()
        for slot, row in enumerate(rows):
            for other in (slot, *every):
                row.setdefault(other, self.circuit.false)
        return rows

    def addresses(self, matrix: Matrix) -> list[dict[int, Literal]]:
        """Address dependencies, also of the reads of writes."""
        rows = self.rows(matrix)
        for one, row in enumerate(matrix):
            rows[self.place[one]] |= {read: row[event] for event, read in self.read.items() if event in row}
        return rows

    def sources(self, name: Hashable, rf: list[dict[int, Literal]], initial: dict[int, Literal]) -> None:
        """Adds the sources of the reads that writes got by the translation."""
        circuit, unknown = self.circuit, self.unknown
        for event, read in self.read.items():
            executed, other = self.executed[read], [w for w in unknown.events if w != event]
            initial[read] = circuit.var("read", name, event)
            found = {w: circuit.var("read", name, w, event) for w in other}
            for w, literal in found.items():
                rf[self.place[w]][read] = literal
                circuit.require(~literal, unknown.writes(w))
                circuit.require(~literal, unknown.loc[w][event])
            for literal in (initial[read], *found.values()):
                circuit.require(~literal, executed)
            circuit.exactly_one([initial[read], *found.values()], executed)

    def controls(self, matrix: Matrix) -> list[dict[int, Literal]]:
        """Control dependencies, of all that an event became, and those of branches that the translation adds."""
        rows: list[dict[int, Literal]] = [{} for _ in self.owner]
        for one, row in enumerate(matrix):
            rows[self.place[one]] = {slot: row[event] for slot, event in enumerate(self.owner) if event in row}
        for event in self.unknown.events:
            for choice, literal in self.unknown.starts[event].items():
                target = self.translation.targets[choice]
                if target.branches:
                    read = self.read[event] if target.updates else self.place[event]
                    last = self.place[event + 1] if choice[0] is Instruction.UPDATE else self.place[event]
                    for slot in range(last + 1, len(self.owner)):
                        if self.thread[slot] == self.thread[last]:
                            rows[read][slot] = literal | rows[read].get(slot, self.circuit.false)
        return rows

    def of_events(self, literals: Mapping[int, Literal]) -> dict[int, Literal]:
        """Literals about events, renumbered to the places of these events."""
        return {self.place[event]: literal for event, literal in literals.items()}

    def spread(self, sequence: Sequence[Literal]) -> list[Literal]:
        """A row of literals about events as a row about all places, false for slots."""
        found = [self.circuit.false] * len(self.owner)
        for event, literal in enumerate(sequence):
            found[self.place[event]] = literal
        return found


def translated_view(
    unknown: ProgramSkeleton, view: ExecutionView, translation: Translation, name: Hashable
) -> ExecutionView:
    """The view of the execution of the translated program; ``view`` is the view of the program before the translation.

    ``name`` is that of the order of its fences.
    """
    slots = _Slots(unknown, translation, view)
    fences = [
        slot
        for slot, ways in enumerate(slots.ways)
        if any(way.kind is EventKind.FENCE and way.mode.order is Order.SC for way in ways.chosen)
    ]
    rf, initial = slots.rows(view.rf), dict(enumerate(slots.spread([view.initial[event] for event in unknown.events])))
    slots.sources(name, rf, initial)
    moved = {"ctrl": slots.controls, "addr": slots.addresses}
    return SpacedView(
        circuit=view.circuit,
        thread=slots.thread,
        ways=slots.ways,
        loc=slots.equivalence(view.loc),
        vloc=slots.equivalence(view.vloc),
        executed=slots.executed,
        rmw=slots.of_events(view.rmw) | {read: slots.executed[read] for read in slots.read.values()},
        same=view.same,
        shared=[view.shared[event] for event in slots.owner],
        depends={kind: moved.get(kind, slots.rows)(matrix) for kind, matrix in view.depends.items()},
        place=slots.rows(view.place),
        rf=rf,
        initial=initial,
        co=slots.rows(view.co),
        before=ordered(view.circuit, name, len(slots.owner), fences),
        negative=view.negative,
        initial_writes=view.initial_writes,
        synchronised=view.synchronised,
    )
