"""Paths and cycles of relations over literals, found by eliminating events one by one.

Worked example: the pairs a->v, b->v, v->c and c->a. To eliminate ``v`` is to add a pair for each way through it, a->c
and b->c, each by one gate. Then ``v`` is forgotten. That leaves a->c, b->c and c->a; eliminating ``a`` adds c->c, which
is the cycle. A closure by Warshall's algorithm would have had a row for each event, and gates for all of their pairs.

    added by v     a->c  where  a->v and v->c        b->c  where  b->v and v->c
    added by a     c->c  where  c->a and a->c

An event is eliminated when the fewest pairs come of it. Few come of an event that has few pairs at that time, so the
size is that of n^3 / 3 gates at most, and about n where pairs are those of threads and few others.

A relation is acyclic where no event comes to have a pair with itself. A path from x to z goes up to the event on it
that is eliminated last, and from there down to z: each step leads to an event that is eliminated later, and then
earlier, by pairs that were there when the first of its two events was eliminated. So pairs of the closure can be made
one by one.

Source: Rose and Tarjan, "Algorithmic aspects of vertex elimination on directed graphs" (SIAM J. Appl. Math. 1978);
Rankooh and Rintanen, "Propositional encodings of acyclicity and reachability by using vertex elimination" (AAAI 2022).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from constraints.circuit import Literal
from constraints.deferred import DeferredCircuit
from corpus.graphs import components

Through = Callable[[int, int, int, Literal, Literal], Literal]
"""A function that gives the literal of a pair ``(i, j)`` that goes through ``v``, given the literals of ``(i, v)`` and
``(v, j)``."""


class Elimination:
    """The paths of a relation. ``loops``: the literal of a cycle through each event that may be on one, and through no
    event that is eliminated later."""

    def __init__(
        self,
        circuit: DeferredCircuit,
        rows: Sequence[Mapping[int, Literal]],
        sure: Sequence[int],
        full: Callable[[int, int], Literal],
        through: Through,
    ) -> None:
        """``rows``: the literals of pairs; ``sure``: the pairs that the closure has wherever both events happen, which
        is the literal ``full``."""
        self._circuit, self._sure, self._full, self._through = circuit, sure, full, through
        self._rank: dict[int, int] = {}
        self._up_from: list[dict[int, Literal]] = [{} for _ in rows]  # v -> later, as it was when v was eliminated
        self._up_to: list[dict[int, Literal]] = [{} for _ in rows]
        self._down_from: list[dict[int, Literal]] = [{} for _ in rows]  # later -> v
        self._down_to: list[dict[int, Literal]] = [{} for _ in rows]
        self.loops: dict[int, Literal] = {}
        self._eliminate(rows)
        self._above = [1 << event for event in range(len(rows))]  # where paths up lead to
        self._below = [1 << event for event in range(len(rows))]  # where paths down come from
        for event in sorted(self._rank, key=lambda event: -self._rank[event]):
            for later in self._up_from[event]:
                self._above[event] |= self._above[later]
            for later in self._down_to[event]:
                self._below[event] |= self._below[later]
        self._ups: list[dict[int, Literal]] = [{event: circuit.true} for event in range(len(rows))]
        self._downs: list[dict[int, Literal]] = [{event: circuit.true} for event in range(len(rows))]

    def _eliminate(self, rows: Sequence[Mapping[int, Literal]]) -> None:
        parts: list[dict[int, list[Literal]]] = [
            {
                other: [self._full(event, other) if self._sure[event] >> other & 1 else literal]
                for other, literal in row.items()
            }
            for event, row in enumerate(rows)
        ]
        ahead = [sum(1 << other for other in row if other != event) for event, row in enumerate(parts)]
        behind = turned(ahead)
        left = {event for event in range(len(rows)) if ahead[event] or behind[event] or event in parts[event]}
        cost = {event: ahead[event].bit_count() * behind[event].bit_count() for event in left}
        while left:
            event = min(left, key=lambda event: (cost[event], event))
            left.remove(event)
            self._rank[event] = len(self._rank)
            others = {other: self._circuit.any_of(found) for other, found in parts[event].items()}
            parts[event] = {}
            loop = others.pop(event, None)
            if loop:
                self.loops[event] = loop
            before = {other: self._circuit.any_of(parts[other].pop(event)) for other in bits_of(behind[event])}
            self._up_from[event], self._down_to[event] = others, before
            for other, literal in others.items():
                self._up_to[other][event] = literal
                behind[other] &= ~(1 << event)
            for other, literal in before.items():
                self._down_from[other][event] = literal
                ahead[other] &= ~(1 << event)
            for one, first in before.items():
                for other, second in others.items():
                    if self._sure[one] >> other & 1:
                        parts[one][other] = [self._full(one, other)]
                    elif both := self._through(one, event, other, first, second):
                        parts[one].setdefault(other, []).append(both)
                    else:
                        continue
                    if one != other:
                        ahead[one] |= 1 << other
                        behind[other] |= 1 << one
            for other in before.keys() | others.keys():
                cost[other] = ahead[other].bit_count() * behind[other].bit_count()

    def literal(self, one: int, other: int) -> Literal:
        """The literal that some path leads from one event to another, or from an event back to itself."""
        if self._sure[one] >> other & 1:
            return self._full(one, other)
        found = [self.loops[one]] if one == other and one in self.loops else []
        for top in bits_of(self._above[one] & self._below[other]):
            if top == one == other:
                continue
            up, down = self._up(one, top), self._down(top, other)
            found.append(up if top == other else down if top == one else self._through(one, top, other, up, down))
        return self._circuit.any_of(found)

    def _up(self, one: int, top: int) -> Literal:
        ups, above = self._ups[one], self._above
        if top not in ups:
            way = [event for event in bits_of(above[one]) if above[event] >> top & 1 and event not in ups]
            for event in sorted(way, key=self._rank.__getitem__):
                ups[event] = self._joined(
                    one, event, [(e, ups[e], pair) for e, pair in self._up_to[event].items() if above[one] >> e & 1]
                )
        return ups[top]

    def _down(self, top: int, other: int) -> Literal:
        downs, below = self._downs[other], self._below
        if top not in downs:
            way = [event for event in bits_of(below[other]) if below[event] >> top & 1 and event not in downs]
            for event in sorted(way, key=self._rank.__getitem__):
                downs[event] = self._joined(
                    event,
                    other,
                    [(e, pair, downs[e]) for e, pair in self._down_from[event].items() if below[other] >> e & 1],
                )
        return downs[top]

    def _joined(self, one: int, other: int, ways: Sequence[tuple[int, Literal, Literal]]) -> Literal:
        if self._sure[one] >> other & 1:
            return self._full(one, other)
        return self._circuit.any_of(
            [
                second if event == one else first if event == other else self._through(one, event, other, first, second)
                for event, first, second in ways
            ]
        )


def bits_of(number: int) -> Iterator[int]:
    """The bits that are set in a number, the lowest first."""
    while number:
        low = number & -number
        yield low.bit_length() - 1
        number ^= low


def turned(rows: Sequence[int]) -> list[int]:
    """The inverse of a relation, whose rows are the bits of numbers."""
    columns = [0] * len(rows)
    for event, row in enumerate(rows):
        for other in bits_of(row):
            columns[other] |= 1 << event
    return columns


def closed(rows: Sequence[int]) -> list[int]:
    """The transitive closure of a relation, whose rows are the bits of numbers."""
    found = list(rows)
    for middle in range(len(found)):
        for event, row in enumerate(found):
            if row >> middle & 1:
                found[event] |= found[middle]
    return found


def on_circles(rows: Sequence[int]) -> list[int]:
    """The pairs of a relation that may be on a cycle: both events are of one strongly connected component."""
    kept = [0] * len(rows)
    for circle in components([list(bits_of(row)) for row in rows]):
        members = sum(1 << event for event in circle)
        for event in circle:
            kept[event] = rows[event] & members
    return kept
