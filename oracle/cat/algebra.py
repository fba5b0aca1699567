"""The relational algebra in which a .cat model is evaluated over events, for any kind of truth.

Worked example: one thread reads x (event 0) and then writes x (event 1). Candidate 0 has the read read the initial
value, candidate 1 the value of the write that comes after it. A truth is a set of candidates, the bits of an integer.

>>> algebra = bits(candidates=2, events=2)
>>> po = algebra.pairs([(0, 1)])  # program order, in both candidates: 0b11
>>> rf = ({}, {0: 0b10})  # reads-from leads from event 1 to event 0 in candidate 1 alone
>>> po
({1: 3}, {})

The check ``acyclic po | rf`` is true of candidate 0 alone. In candidate 1 a cycle leads from event 0 to event 1 and
back, which the transitive closure shows as event 0 related to itself.

>>> algebra.closure(algebra.union(po, rf))
({1: 3, 0: 2}, {0: 2, 1: 2})
>>> bin(algebra.is_acyclic(algebra.union(po, rf)))
'0b1'

A relation says of each pair of events how true it is that the pair is related. In the oracle a truth is a set of
candidate executions, so that one pass judges all candidates of a test at once. In ``constraints`` a truth is a literal,
and one pass writes clauses. Either kind has ``&`` and ``|``. A truth is false in the sense of ``bool`` exactly when it
is known to be false, which keeps matrices sparse.

Events are numbered from 0. A set is a dict from event to truth. A relation is a tuple of such rows, one for each event.
A missing entry is false. Sets and relations are never changed once they are made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar


class Truth(Protocol):
    """A truth value of an algebra, such as a set of candidate executions or a literal."""

    def __and__(self, other: Any, /) -> Any: ...
    def __or__(self, other: Any, /) -> Any: ...


T = TypeVar("T", bound=Truth)

Set = Mapping[int, T]
Relation = tuple[Mapping[int, T], ...]


@dataclass(frozen=True, slots=True)
class Algebra(Generic[T]):
    """The operations of .cat on sets of events and relations between events, whose truths are of one type.

    ``executed[e]``: how true it is that event ``e`` happens; complements stay within that. ``exact``: equivalent truths
    are equal, so that a fixpoint is seen when it is reached. ``on_demand``: the truth of a pair is made when it is
    asked for, so that pairs that nobody asks for cost nothing.
    """

    true: T
    negate: Callable[[T], T]
    executed: Sequence[T]
    exact: bool = True
    on_demand: bool = False

    @property
    def size(self) -> int:
        """The number of events, which are numbered from 0."""
        return len(self.executed)

    # Sets

    def everything(self) -> Set[T]:
        """The set of all events, each as true as it is that the event happens."""
        return {event: truth for event, truth in enumerate(self.executed) if truth}

    def select(self, events: Iterable[int]) -> Set[T]:
        """The set of those of the given events that happen."""
        return {event: self.executed[event] for event in events if self.executed[event]}

    def set_union(self, left: Set[T], right: Set[T]) -> Set[T]:
        """The set ``left | right``: events of either set."""
        return _union(left, right)

    def set_intersection(self, left: Set[T], right: Set[T]) -> Set[T]:
        """The set ``left & right``: events of both sets."""
        return _intersection(left, right)

    def set_difference(self, left: Set[T], right: Set[T]) -> Set[T]:
        """The set ``left \\ right``: events of ``left`` that are not in ``right``."""
        return self._difference(left, right)

    def identity(self, events: Set[T]) -> Relation[T]:
        """The relation ``[events]``: each event of a set with itself."""
        return tuple({event: events[event]} if event in events else {} for event in range(self.size))

    def product(self, left: Set[T], right: Set[T]) -> Relation[T]:
        """The relation ``left * right``: each event of ``left`` with each event of ``right``."""
        empty: Mapping[int, T] = {}
        rows = []
        for event in range(self.size):
            truth = left.get(event)
            rows.append(empty if not truth else _kept((other, truth & value) for other, value in right.items()))
        return tuple(rows)

    # Relations

    def empty(self) -> Relation[T]:
        """The empty relation, which has no pair of events."""
        return ({},) * self.size

    def pairs(self, pairs: Iterable[tuple[int, int]]) -> Relation[T]:
        """The relation of the given pairs, each as true as it is that both its events happen."""
        rows: list[dict[int, T]] = [{} for _ in range(self.size)]
        for one, other in pairs:
            truth = self.executed[one] & self.executed[other]
            if truth:
                rows[one][other] = truth
        return tuple(rows)

    def universe(self) -> Relation[T]:
        """The relation of all pairs of events that happen."""
        everything = self.everything()
        return self.product(everything, everything)

    def union(self, left: Relation[T], right: Relation[T]) -> Relation[T]:
        """The relation ``left | right``: pairs of either relation."""
        return tuple(map(_union, left, right))

    def intersection(self, left: Relation[T], right: Relation[T]) -> Relation[T]:
        """The relation ``left & right``: pairs of both relations."""
        return tuple(map(_intersection, left, right))

    def difference(self, left: Relation[T], right: Relation[T]) -> Relation[T]:
        """The relation ``left \\ right``: pairs of ``left`` that are not in ``right``."""
        return tuple(map(self._difference, left, right))

    def compose(self, left: Relation[T], right: Relation[T]) -> Relation[T]:
        """The relation ``left ; right``: a pair of ``left`` followed by a pair of ``right``."""
        rows = []
        for row in left:
            out: dict[int, T] = {}
            for middle, truth in row.items():
                for other, value in right[middle].items():
                    both = truth & value
                    if both:
                        out[other] = out[other] | both if other in out else both
            rows.append(out)
        return tuple(rows)

    def from_set(self, events: Set[T], relation: Relation[T]) -> Relation[T]:
        """The relation ``[events] ; relation``: the pairs that begin in a set."""
        return self.compose(self.identity(events), relation)

    def to_set(self, relation: Relation[T], events: Set[T]) -> Relation[T]:
        """The relation ``relation ; [events]``: the pairs that end in a set."""
        return self.compose(relation, self.identity(events))

    def compose_within(self, left: Relation[T], right: Relation[T], bound: Relation[T]) -> Relation[T]:
        """The pairs of ``left ; right`` that are also in ``bound``, each as true as it is in ``left ; right``."""
        rows = []
        for row, wanted in zip(left, bound, strict=True):
            out: dict[int, T] = {}
            for middle, truth in row.items() if wanted else ():
                onward = right[middle]
                for other in wanted if len(wanted) < len(onward) else onward:
                    if other in wanted and other in onward:
                        both = truth & onward[other]
                        if both:
                            out[other] = out[other] | both if other in out else both
            rows.append(out)
        return tuple(rows)

    def inverse(self, relation: Relation[T]) -> Relation[T]:
        """The relation ``relation ^-1``: every pair with its events exchanged."""
        rows: list[dict[int, T]] = [{} for _ in range(self.size)]
        for event, row in enumerate(relation):
            for other, truth in row.items():
                rows[other][event] = truth
        return tuple(rows)

    def reflexive(self, relation: Relation[T]) -> Relation[T]:
        """The relation ``relation ?``: its pairs, and each event with itself."""
        return self.union(relation, self.identity(self.everything()))

    def closure(self, relation: Relation[T]) -> Relation[T]:
        """The transitive closure ``relation ^+``, by Warshall's algorithm."""
        rows = [dict(row) for row in relation]
        for middle in range(self.size):
            through = list(rows[middle].items())
            if not through:
                continue
            for row in rows:
                truth = row.get(middle)
                if not truth:
                    continue
                for other, value in through:
                    both = truth & value
                    if both:
                        row[other] = row[other] | both if other in row else both
        return tuple(rows)

    def reflexive_closure(self, relation: Relation[T]) -> Relation[T]:
        """The reflexive and transitive closure ``relation ^*``."""
        return self.reflexive(self.closure(relation))

    def domain(self, relation: Relation[T]) -> Set[T]:
        """The set of events that the relation leads from."""
        return _kept((event, any_of(row.values())) for event, row in enumerate(relation) if row)

    def named(self, name: str, relation: Relation[T]) -> Relation[T]:
        """A relation that a model calls ``name``: it is given back unchanged, except by algebras that keep names."""
        return relation

    # Checks

    def is_empty(self, value: Relation[T] | Set[T]) -> T:
        """The truth of the check ``empty``: a relation has no pair, or a set no event."""
        rows = value if isinstance(value, tuple) else (value,)
        found = [truth for row in rows for truth in row.values()]
        return self.negate(any_of(found)) if found else self.true

    def is_irreflexive(self, relation: Relation[T]) -> T:
        """The truth of the check ``irreflexive``: no event is related to itself."""
        return self.is_empty({event: row[event] for event, row in enumerate(relation) if event in row})

    def is_acyclic(self, relation: Relation[T], positive: bool = False) -> T:
        """The truth of the check ``acyclic``: the relation has no cycle.

        ``positive``: the truth is used in positive polarity only, so it may be false where there is no cycle, as long
        as some choice makes it true.
        """
        return self.is_irreflexive(self.closure(relation))

    def _difference(self, left: Set[T], right: Set[T]) -> Set[T]:
        return _kept(
            (event, truth & self.negate(right[event]) if event in right else truth) for event, truth in left.items()
        )


def any_of(truths: Iterable[T]) -> T:
    """The disjunction of truths, of which there must be at least one."""
    found = iter(truths)
    total = next(found)
    for truth in found:
        total = total | truth
    return total


def _kept(row: Iterable[tuple[int, T]]) -> Mapping[int, T]:
    return {event: truth for event, truth in row if truth}


def _union(left: Mapping[int, T], right: Mapping[int, T]) -> Mapping[int, T]:
    if not right:
        return left
    if not left:
        return right
    out = dict(left)
    for event, truth in right.items():
        out[event] = out[event] | truth if event in out else truth
    return out


def _intersection(left: Mapping[int, T], right: Mapping[int, T]) -> Mapping[int, T]:
    if len(left) > len(right):
        left, right = right, left
    if not left:
        return left
    return {event: both for event, truth in left.items() if event in right and (both := truth & right[event])}


class Candidates(Algebra[int]):
    """The algebra whose truths are sets of candidates, the bits of an integer, and in which every event happens.

    Its own methods are quicker than those that it replaces and give equal results: rows are shared where nothing is
    taken from them.
    """

    def pairs(self, pairs: Iterable[tuple[int, int]]) -> Relation[int]:
        """The relation of the given pairs, true in every candidate, since all events happen."""
        true = self.true
        rows: list[dict[int, int]] = [{} for _ in range(self.size)]
        for one, other in pairs:
            rows[one][other] = true
        return tuple(rows)

    def identity(self, events: Set[int]) -> Relation[int]:
        """The relation ``[events]``: each event of a set with itself."""
        rows: list[Mapping[int, int]] = [{}] * self.size
        for event, truth in events.items():
            rows[event] = {event: truth}
        return tuple(rows)

    def from_set(self, events: Set[int], relation: Relation[int]) -> Relation[int]:
        """The relation ``[events] ; relation``: the pairs that begin in a set."""
        rows: list[Mapping[int, int]] = [{}] * self.size
        for event, truth in events.items():
            row = relation[event]
            rows[event] = row if truth == self.true else _kept((other, truth & value) for other, value in row.items())
        return tuple(rows)

    def to_set(self, relation: Relation[int], events: Set[int]) -> Relation[int]:
        """The relation ``relation ; [events]``: the pairs that end in a set."""
        return tuple([_intersection(row, events) if row else row for row in relation])

    def is_acyclic(self, relation: Relation[int], positive: bool = False) -> int:
        """The candidates in which the relation has no cycle.

        Events are eliminated one by one, with an edge from each event before them to each event after them.
        """
        rows = [dict(row) for row in relation]
        cyclic = 0
        while rows:
            event = len(rows) - 1
            through = rows.pop()
            cyclic |= through.pop(event, 0)
            for row in rows:
                truth = row.pop(event, 0)
                if truth:
                    for other, value in through.items():
                        both = truth & value
                        if both:
                            row[other] = row[other] | both if other in row else both
        return self.true & ~cyclic


def bits(candidates: int, events: int) -> Candidates:
    """The algebra of the candidates 0 to ``candidates - 1``."""
    return among((1 << candidates) - 1, events)


def among(candidates: int, events: int) -> Candidates:
    """The algebra of some candidates, given as the bits of a mask."""
    return Candidates(candidates, lambda truth: candidates ^ truth, (candidates,) * events)
