"""The relational algebra over literals in which the literal of a pair is made when something asks for the pair.

Worked example: a model checks ``irreflexive (sb | sw)+; fr``. The pairs that can be in ``fr`` lead from a read to a
write of one location. So of the closure only pairs from such a write to such a read are asked for. The model defines
``eco``, too, and no check mentions it, so that none of its pairs is made.

A row is a mapping from events to literals that is evaluated on demand. It knows two sets of events from the start, as
bits of a number (the lower and upper bounds of Jackson, "Software Abstractions", 2006; the relation analysis of Haas
et al., "CAAT", OOPSLA 2022):

    may    no other event is in the row
    must   an event is in the row wherever both events of the pair happen

A relation never has a pair one of whose events does not happen. So all that is asked of a pair that must be there is
whether both happen, and what is taken away from a relation takes nothing from where it may not be. ``surely`` says
which events happen wherever another one does, as those before it in straight-line code: the pair of both happens where
the second one does. ``apart`` has the events that never happen together with another one, which are of no relation.

Closures and cycles are in ``constraints.elimination``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from constraints.circuit import Literal
from constraints.deferred import DeferredCircuit
from constraints.elimination import Elimination, bits_of, closed, on_circles, turned
from oracle.cat.algebra import Algebra, Relation, Set

DEEPEST = 40
"""The number of operators, one within another, from which on the pairs of a relation are made at once: each that waits
for another takes a few frames of Python's stack."""


class DemandedRow(Mapping[int, Literal]):
    """A set of events, or the pairs of a relation from one event: literals that are made when they are asked for.

    A literal that is asked for may turn out to be the constant false.
    """

    __slots__ = ("_known", "_make", "depth", "full", "may", "must")

    def __init__(
        self,
        may: int,
        must: int,
        full: Callable[[int], Literal],
        make: Callable[[int], Literal],
        depth: int = 0,
    ) -> None:
        """``full``: the literal that an event happens, and the one that the row is of; ``make``: that of another event
        in the row."""
        self.may, self.must, self.depth = may, must, depth
        self.full, self._make = full, make
        self._known: dict[int, Literal] = {}

    def literal(self, event: int) -> Literal:
        """The literal that an event is in the row, which it may be."""
        literal = self._known.get(event)
        if literal is None:
            literal = self._known[event] = (self.full if self.must >> event & 1 else self._make)(event)
        return literal

    def __getitem__(self, event: int) -> Literal:
        if not self.may >> event & 1:
            raise KeyError(event)
        return self.literal(event)

    def __contains__(self, event: object) -> bool:
        return isinstance(event, int) and bool(self.may >> event & 1)

    def __iter__(self) -> Iterator[int]:
        return bits_of(self.may)

    def __len__(self) -> int:
        return self.may.bit_count()


SET = -1
"""The number that stands for the event of a row that is a set, and no row of a relation."""


def _never(event: int) -> Literal:
    raise KeyError(event)


_NOTHING = DemandedRow(0, 0, _never, _never)


@dataclass(frozen=True, slots=True, kw_only=True)
class Demanded(Algebra[Literal]):
    """The relational algebra whose rows are made on demand, over the literals of a circuit.

    ``surely[e]``: the events that happen wherever ``e`` does, ``apart[e]``: those that never happen together with it,
    as the bits of numbers, of events that happen where ``happens`` says.
    """

    circuit: DeferredCircuit
    happens: Sequence[Literal]
    surely: Sequence[int]
    apart: Sequence[int]
    _facts: _Facts = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_facts", _Facts(self))

    def row(self, event: int, row: Mapping[int, Literal]) -> DemandedRow:
        """A row of literals that are there already; ``event``: the one whose row of a relation it is, or ``SET``."""
        facts, full = self._facts, self._facts.full[event]
        if type(row) is DemandedRow:
            if row.full is full or not row.may:
                return row  # else it is of an algebra in which more events happen (``oracle.cat.updates``)
            return DemandedRow(row.may, row.must & facts.possible_with(event), full, row.literal, row.depth)
        may = must = 0
        for other, literal in row.items():
            may |= 1 << other
            if facts.is_both(other if event == SET else event, other, literal):
                must |= 1 << other
        return DemandedRow(may, must, full, row.__getitem__) if may else _NOTHING

    def rows(self, relation: Relation[Literal]) -> list[DemandedRow]:
        """The rows of a relation: for each event, the pairs that it may begin."""
        return [self.row(event, row) for event, row in enumerate(relation)]

    # Rows, which are sets or of relations

    def _made(
        self, event: int, may: int, must: int, make: Callable[[int], Literal], depth: int
    ) -> Mapping[int, Literal]:
        """A row over others, of which the deepest has a ``depth``."""
        if not may:
            return _NOTHING
        row = DemandedRow(may, must & may, self._facts.full[event], make, depth + 1)
        if depth < DEEPEST:
            return row
        return self.row(event, {other: literal for other in row if (literal := row.literal(other))})

    def _union(self, event: int, left: Mapping[int, Literal], right: Mapping[int, Literal]) -> Mapping[int, Literal]:
        if left is _NOTHING or left is right:
            return right
        if right is _NOTHING:
            return left
        one, other, circuit = self.row(event, left), self.row(event, right), self.circuit

        def make(other_event: int) -> Literal:
            if not one.may >> other_event & 1:
                return other.literal(other_event)
            return (
                circuit.any_of((one.literal(other_event), other.literal(other_event)))
                if other.may >> other_event & 1
                else one.literal(other_event)
            )

        return self._made(event, one.may | other.may, one.must | other.must, make, max(one.depth, other.depth))

    def _intersection(
        self, event: int, left: Mapping[int, Literal], right: Mapping[int, Literal]
    ) -> Mapping[int, Literal]:
        if left is _NOTHING or right is _NOTHING:
            return _NOTHING
        if left is right:
            return left
        one, other, circuit = self.row(event, left), self.row(event, right), self.circuit

        def make(other_event: int) -> Literal:
            if one.must >> other_event & 1:  # and so the other one says more
                return other.literal(other_event)
            return (
                one.literal(other_event)
                if other.must >> other_event & 1
                else circuit.conjunction(one.literal(other_event), other.literal(other_event))
            )

        return self._made(event, one.may & other.may, one.must & other.must, make, max(one.depth, other.depth))

    def _minus(self, event: int, left: Mapping[int, Literal], right: Mapping[int, Literal]) -> Mapping[int, Literal]:
        if left is _NOTHING or right is _NOTHING:
            return left
        one, other, circuit = self.row(event, left), self.row(event, right), self.circuit

        def make(other_event: int) -> Literal:
            return (
                circuit.conjunction(one.literal(other_event), ~other.literal(other_event))
                if other.may >> other_event & 1
                else one.literal(other_event)
            )

        return self._made(event, one.may & ~other.must, one.must & ~other.may, make, max(one.depth, other.depth))

    # Sets

    def everything(self) -> Set[Literal]:
        """The set of all events, each as true as it is that the event happens."""
        return self.select(range(self.size))

    def select(self, events: Iterable[int]) -> Set[Literal]:
        """The set of those of the given events that happen."""
        may = sum(1 << event for event in events if self.executed[event])
        full = self._facts.full[SET]
        return DemandedRow(may, may, full, full) if may else _NOTHING

    def set_union(self, left: Set[Literal], right: Set[Literal]) -> Set[Literal]:
        """The set ``left | right``: events of either set."""
        return self._union(SET, left, right)

    def set_intersection(self, left: Set[Literal], right: Set[Literal]) -> Set[Literal]:
        """The set ``left & right``: events of both sets."""
        return self._intersection(SET, left, right)

    def set_difference(self, left: Set[Literal], right: Set[Literal]) -> Set[Literal]:
        """The set ``left \\ right``: events of ``left`` that are not in ``right``."""
        return self._minus(SET, left, right)

    def identity(self, events: Set[Literal]) -> Relation[Literal]:
        """The relation ``[events]``: each event of a set with itself."""
        row = self.row(SET, events)
        return tuple(
            [
                self._made(event, row.may & 1 << event, row.must & 1 << event, row.literal, row.depth)
                for event in range(self.size)
            ]
        )

    def product(self, left: Set[Literal], right: Set[Literal]) -> Relation[Literal]:
        """The relation ``left * right``: each event of ``left`` with each event of ``right``."""
        one, other, circuit = self.row(SET, left), self.row(SET, right), self.circuit

        def made(event: int) -> Mapping[int, Literal]:
            def make(other_event: int) -> Literal:
                return circuit.conjunction(one.literal(event), other.literal(other_event))

            must = other.must if one.must >> event & 1 else 0
            return self._made(event, other.may & ~self.apart[event], must, make, max(one.depth, other.depth))

        return tuple([made(event) if one.may >> event & 1 else _NOTHING for event in range(self.size)])

    def domain(self, relation: Relation[Literal]) -> Set[Literal]:
        """The set of events that the relation leads from."""
        rows, circuit, surely = self.rows(relation), self.circuit, self._facts.surely
        may = sum(1 << event for event, row in enumerate(rows) if row)
        must = sum(1 << event for event, row in enumerate(rows) if row.must & surely[event])
        return self._made(
            SET,
            may,
            must,
            lambda event: circuit.any_of([rows[event].literal(other_event) for other_event in rows[event]]),
            _depth(rows),
        )

    # Relations

    def pairs(self, pairs: Iterable[tuple[int, int]]) -> Relation[Literal]:
        """The relation of the given pairs, each as true as it is that both its events happen."""
        rows = [0] * self.size
        for one, other in pairs:
            rows[one] |= 1 << other
        facts = self._facts
        return tuple(
            [
                DemandedRow(may, may, facts.full[event], facts.full[event])
                if (may := row & facts.possible_with(event))
                else _NOTHING
                for event, row in enumerate(rows)
            ]
        )

    def union(self, left: Relation[Literal], right: Relation[Literal]) -> Relation[Literal]:
        """The relation ``left | right``: pairs of either relation."""
        return tuple(map(self._union, range(self.size), left, right))

    def intersection(self, left: Relation[Literal], right: Relation[Literal]) -> Relation[Literal]:
        """The relation ``left & right``: pairs of both relations."""
        return tuple(map(self._intersection, range(self.size), left, right))

    def difference(self, left: Relation[Literal], right: Relation[Literal]) -> Relation[Literal]:
        """The relation ``left \\ right``: pairs of ``left`` that are not in ``right``."""
        return tuple(map(self._minus, range(self.size), left, right))

    def compose(self, left: Relation[Literal], right: Relation[Literal]) -> Relation[Literal]:
        """The relation ``left ; right``: a pair of ``left`` followed by a pair of ``right``."""
        rows, onward = self.rows(left), self.rows(right)
        facts, circuit, depth = self._facts, self.circuit, _depth([*rows, *onward])

        def made(event: int, row: DemandedRow) -> Mapping[int, Literal]:
            may = must = 0
            for middle in bits_of(row.may):
                may |= onward[middle].may
                if row.must >> middle & 1:
                    must |= onward[middle].must & facts.met(event, middle)

            def make(other_event: int) -> Literal:
                return circuit.any_of(
                    [
                        facts.through(
                            event, middle, other_event, row.literal(middle), onward[middle].literal(other_event)
                        )
                        for middle in bits_of(row.may)
                        if onward[middle].may >> other_event & 1
                    ]
                )

            return self._made(event, may & facts.possible[event], must, make, depth)

        return tuple([made(event, row) if row.may else _NOTHING for event, row in enumerate(rows)])

    def from_set(self, events: Set[Literal], relation: Relation[Literal]) -> Relation[Literal]:
        """The relation ``[events] ; relation``: the pairs that begin in a set."""
        begins, circuit = self.row(SET, events), self.circuit

        def made(event: int, row: Mapping[int, Literal]) -> Mapping[int, Literal]:
            if begins.must >> event & 1 or row is _NOTHING:
                return row
            if not begins.may >> event & 1:
                return _NOTHING
            kept = self.row(event, row)
            return self._made(
                event,
                kept.may,
                0,
                lambda other_event: circuit.conjunction(begins.literal(event), kept.literal(other_event)),
                max(begins.depth, kept.depth),
            )

        return tuple(map(made, range(self.size), relation))

    def to_set(self, relation: Relation[Literal], events: Set[Literal]) -> Relation[Literal]:
        """The relation ``relation ; [events]``: the pairs that end in a set."""
        ends, circuit = self.row(SET, events), self.circuit

        def made(event: int, row: Mapping[int, Literal]) -> Mapping[int, Literal]:
            kept = self.row(event, row)

            def make(other_event: int) -> Literal:
                return (
                    kept.literal(other_event)
                    if ends.must >> other_event & 1
                    else circuit.conjunction(kept.literal(other_event), ends.literal(other_event))
                )

            return self._made(event, kept.may & ends.may, kept.must & ends.must, make, max(kept.depth, ends.depth))

        return tuple(map(made, range(self.size), relation))

    def inverse(self, relation: Relation[Literal]) -> Relation[Literal]:
        """The relation ``relation ^-1``: every pair with its events exchanged."""
        rows = self.rows(relation)
        may, must = turned([row.may for row in rows]), turned([row.must for row in rows])
        depth = _depth(rows)
        return tuple(
            [self._made(event, row, must[event], partial(_turned, rows, event), depth) for event, row in enumerate(may)]
        )

    def closure(self, relation: Relation[Literal]) -> Relation[Literal]:
        """The transitive closure ``relation ^+``, whose pairs are found by eliminating events."""
        rows, facts = self.rows(relation), self._facts
        may, must = closed([row.may for row in rows]), facts.sure([row.must for row in rows])
        made: list[Elimination] = []

        def paths() -> Elimination:
            if not made:
                needed = facts.needed([row.may for row in rows], [row.must for row in rows])
                made.append(self._paths(rows, needed, must))
            return made[0]

        def path(event: int, other_event: int) -> Literal:
            return paths().literal(event, other_event)

        depth = _depth(rows)
        return tuple(
            [
                self._made(event, row & facts.possible[event], must[event], partial(path, event), depth)
                for event, row in enumerate(may)
            ]
        )

    def _paths(self, rows: Sequence[DemandedRow], kept: Sequence[int], sure: Sequence[int]) -> Elimination:
        literals = [
            {other: literal for other in bits_of(kept[event]) if (literal := row.literal(other))}
            for event, row in enumerate(rows)
        ]
        return Elimination(self.circuit, literals, sure, self._facts.both, self._facts.through)

    # Checks

    def is_empty(self, value: Relation[Literal] | Set[Literal]) -> Literal:
        """The truth of the check ``empty``: a relation has no pair, or a set no event."""
        rows = value if isinstance(value, tuple) else (value,)
        return ~self.circuit.any_of([row[event] for row in rows for event in row])

    def is_acyclic(self, relation: Relation[Literal], positive: bool = False) -> Literal:
        """The truth of the check ``acyclic``: the relation has no cycle. Only pairs that may be on one are made."""
        rows, facts = self.rows(relation), self._facts
        kept = on_circles([row.may for row in rows])
        must = [row.must & keep for row, keep in zip(rows, kept, strict=True)]
        while True:
            needed = facts.needed(kept, must)
            possible = [
                sum(1 << other_event for other_event in bits_of(keep) if row.literal(other_event))
                for row, keep in zip(rows, needed, strict=True)
            ]
            kept = on_circles(possible)
            if kept == possible:
                break
            must = [sure & keep for sure, keep in zip(must, kept, strict=True)]
        return ~self.circuit.any_of(self._paths(rows, kept, facts.sure(must)).loops.values())


def demanded(
    circuit: DeferredCircuit,
    executed: Sequence[Literal],
    surely: Sequence[int] | None = None,
    apart: Sequence[int] | None = None,
) -> Demanded:
    """The algebra over a circuit for events that happen where the literals ``executed`` hold.

    ``surely[e]``: the events that happen wherever ``e`` does, ``apart[e]``: those that never happen together with it,
    as the bits of their numbers; none where they are not given.
    """
    nothing = (0,) * len(executed)
    return Demanded(
        circuit.true,
        type(circuit.true).__invert__,
        executed,
        exact=False,
        on_demand=True,
        circuit=circuit,
        happens=executed,
        surely=nothing if surely is None else surely,
        apart=nothing if apart is None else apart,
    )


def _turned(rows: Sequence[DemandedRow], event: int, other_event: int) -> Literal:
    return rows[other_event].literal(event)


def _depth(rows: Iterable[DemandedRow]) -> int:
    return max((row.depth for row in rows), default=0)


class _Facts:
    """What is known of the events of an algebra: which happen wherever others do, and which never do together.

    ``possible[e]``: the events that are not apart from ``e``; ``surely[e]``: those that happen wherever it does.
    """

    def __init__(self, algebra: Demanded) -> None:
        executed, circuit = algebra.executed, algebra.circuit
        self._executed, self._circuit = executed, circuit
        ever = sum(1 << event for event, literal in enumerate(executed) if literal)
        always = sum(1 << event for event, literal in enumerate(executed) if literal is circuit.true)
        same = sum(1 << event for event, literal in enumerate(executed) if literal is algebra.happens[event])
        self._ever = ever
        self._all = (1 << len(executed)) - 1
        self.possible = [self._all & ~apart for apart in algebra.apart]
        self.surely = [surely & same | always | 1 << event for event, surely in enumerate(algebra.surely)]
        self._sure_of = turned(self.surely)
        self.full: list[Callable[[int], Literal]] = [
            *(partial(self.both, event) for event in range(len(executed))),
            executed.__getitem__,
        ]
        """For each event, the function that gives the literal that it and another one happen; the last is of sets."""

    def both(self, one: int, other: int) -> Literal:
        """Return the literal of two events that both happen, true where they surely do."""
        if self.surely[one] >> other & 1:
            return self._executed[one]
        if self.surely[other] >> one & 1:
            return self._executed[other]
        if not self.possible[one] >> other & 1:
            return self._circuit.false
        return self._circuit.conjunction(self._executed[one], self._executed[other])

    def is_both(self, one: int, other: int, literal: Literal) -> bool:
        """Whether a literal says that two events happen; it makes no gate to find out."""
        first, second = self._executed[one], self._executed[other]
        if self.surely[one] >> other & 1 or first is second:
            return literal is first
        if self.surely[other] >> one & 1:
            return literal is second
        operands = self._circuit.operands.get(literal.number)
        return operands is not None and len(operands) == 2 and first in operands and second in operands

    def possible_with(self, event: int) -> int:
        """The events that may happen, and together with a given one."""
        return self._ever if event == SET else self.possible[event] & self._ever if self._executed[event] else 0

    def met(self, event: int, middle: int) -> int:
        """The events with which, and a given one, a third one surely happens."""
        return self._all if self.surely[event] >> middle & 1 else self._sure_of[middle]

    def through(self, one: int, middle: int, other: int, first: Literal, second: Literal) -> Literal:
        """The literal of a pair that goes through an event, given those of its two parts.

        Of a part that is as true as it is that its events happen, no more is needed than the event that the other part
        does not have.
        """
        circuit, executed = self._circuit, self._executed
        if self.is_both(one, middle, first):
            if self.is_both(middle, other, second):
                if self.met(one, middle) >> other & 1:
                    return self.both(one, other)
                return circuit.all_of((executed[one], executed[middle], executed[other]))
            first = circuit.true if (self.surely[middle] | self.surely[other]) >> one & 1 else executed[one]
        elif self.is_both(middle, other, second):
            second = circuit.true if (self.surely[middle] | self.surely[one]) >> other & 1 else executed[other]
        return circuit.conjunction(first, second)

    def sure(self, must: Sequence[int]) -> list[int]:
        """The pairs of the closure of a relation that are there wherever their events happen, of pairs that are."""
        found = list(must)
        for middle in range(len(found)):
            for event, row in enumerate(found):
                if row >> middle & 1:
                    found[event] |= found[middle] & self.met(event, middle)
        return found

    def needed(self, may: Sequence[int], must: Sequence[int]) -> list[int]:
        """The pairs of a relation without those that others imply, by way of an event that surely happens as well."""
        if any(row >> event & 1 for event, row in enumerate(closed(must))):
            return list(may)
        kept = []
        for event, row in enumerate(may):
            for middle in bits_of(must[event]):
                row &= ~(must[middle] & self.met(event, middle))
            kept.append(row)
        return kept
