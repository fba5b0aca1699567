"""The relational algebra of one execution, in which a set is a mask of events and a relation a mask for each event.

Worked example: event 0 reads x and event 1 writes it after that, in one thread.

>>> algebra = rows(2)
>>> po = (0b10, 0b00)  # from event 0 to event 1
>>> rf = (0b00, 0b01)  # from event 1 to event 0
>>> algebra.compose(po, rf)
(1, 0)
>>> algebra.is_acyclic(algebra.union(po, rf))
0

Truths are 1 and 0. The operations are those of ``oracle.cat.algebra``, several times as fast where there is one
execution alone; an empty mapping, by which the interpreter of models says ``0``, is the empty set here, too.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import and_, or_
from typing import Any

from oracle.cat.algebra import Algebra

MaskSet = Any
"""A set: the mask of its events, or an empty mapping."""
MaskRelation = Any
"""A relation: for each event, the mask of those that it is related to."""


def rows(events: int) -> Rows:
    """The algebra of one execution with so many events."""
    return Rows(1, lambda truth: 1 - truth, (1,) * events)


class Rows(Algebra[int]):
    """The algebra of one execution, all of whose events happen."""

    def everything(self) -> MaskSet:
        """The set of all events."""
        return (1 << self.size) - 1

    def select(self, events: Iterable[int]) -> MaskSet:
        """The set of the given events."""
        return sum(1 << event for event in events)

    def set_union(self, left: MaskSet, right: MaskSet) -> MaskSet:
        """Events of either set."""
        return (left or 0) | (right or 0)

    def set_intersection(self, left: MaskSet, right: MaskSet) -> MaskSet:
        """Events of both sets."""
        return (left or 0) & (right or 0)

    def set_difference(self, left: MaskSet, right: MaskSet) -> MaskSet:
        """Events of ``left`` that are not in ``right``."""
        return (left or 0) & ~(right or 0)

    def identity(self, events: MaskSet) -> MaskRelation:
        """Each event of a set with itself."""
        events = events or 0
        return tuple([events & 1 << event for event in range(self.size)])

    def product(self, left: MaskSet, right: MaskSet) -> MaskRelation:
        """Each event of ``left`` with each event of ``right``."""
        left, right = left or 0, right or 0
        return tuple([right if left >> event & 1 else 0 for event in range(self.size)])

    def empty(self) -> MaskRelation:
        """The relation without a pair."""
        return (0,) * self.size

    def pairs(self, pairs: Iterable[tuple[int, int]]) -> MaskRelation:
        """The relation of the given pairs."""
        found = [0] * self.size
        for one, other in pairs:
            found[one] |= 1 << other
        return tuple(found)

    def universe(self) -> MaskRelation:
        """All pairs of events."""
        return (self.everything(),) * self.size

    def union(self, left: MaskRelation, right: MaskRelation) -> MaskRelation:
        """Pairs of either relation."""
        return tuple(map(or_, left, right))

    def intersection(self, left: MaskRelation, right: MaskRelation) -> MaskRelation:
        """Pairs of both relations."""
        return tuple(map(and_, left, right))

    def difference(self, left: MaskRelation, right: MaskRelation) -> MaskRelation:
        """Pairs of ``left`` that are not in ``right``."""
        return tuple([one & ~other for one, other in zip(left, right, strict=True)])

    def compose(self, left: MaskRelation, right: MaskRelation) -> MaskRelation:
        """A pair of ``left`` followed by a pair of ``right``."""
        found = []
        for row in left:
            reached = 0
            while row:
                lowest = row & -row
                reached |= right[lowest.bit_length() - 1]
                row ^= lowest
            found.append(reached)
        return tuple(found)

    def from_set(self, events: MaskSet, relation: MaskRelation) -> MaskRelation:
        """The pairs that begin in a set."""
        events = events or 0
        return tuple([row if events >> event & 1 else 0 for event, row in enumerate(relation)])

    def to_set(self, relation: MaskRelation, events: MaskSet) -> MaskRelation:
        """The pairs that end in a set."""
        events = events or 0
        return tuple([row & events for row in relation])

    def compose_within(self, left: MaskRelation, right: MaskRelation, bound: MaskRelation) -> MaskRelation:
        """The pairs of ``left ; right`` that are also in ``bound``."""
        return self.intersection(self.compose(left, right), bound)

    def inverse(self, relation: MaskRelation) -> MaskRelation:
        """Every pair with its events exchanged."""
        found = [0] * self.size
        for event, row in enumerate(relation):
            while row:
                lowest = row & -row
                found[lowest.bit_length() - 1] |= 1 << event
                row ^= lowest
        return tuple(found)

    def closure(self, relation: MaskRelation) -> MaskRelation:
        """The transitive closure, by Warshall's algorithm."""
        found = list(relation)
        for middle in range(self.size):
            through, bit = found[middle], 1 << middle
            if through:
                found = [row | through if row & bit else row for row in found]
        return tuple(found)

    def domain(self, relation: MaskRelation) -> MaskSet:
        """The events that the relation leads from."""
        return sum(1 << event for event, row in enumerate(relation) if row)

    def is_empty(self, value: MaskRelation | MaskSet) -> int:
        """Whether there is no pair, or no event."""
        return int(not any(value) if isinstance(value, tuple) else not value)

    def is_irreflexive(self, relation: MaskRelation) -> int:
        """Whether no event is related to itself."""
        return int(not any(row >> event & 1 for event, row in enumerate(relation)))

    def is_acyclic(self, relation: MaskRelation, positive: bool = False) -> int:
        """Whether there is no cycle: events that lead to none that is left are left out, until none is left."""
        left = self.everything()
        while left:
            ends = sum(1 << event for event, row in enumerate(relation) if left >> event & 1 and not row & left)
            if not ends:
                return 0
            left &= ~ends
        return 1
