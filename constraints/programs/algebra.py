"""The relational algebra of execution views, in which each check has a known polarity, so acyclicity needs no closure.

Where a check is to hold, its proof is an order of the events that every pair goes along with. Where it is to fail, its
proof is a set of events, each of which leads to one of the set. Neither follows from the execution, for several such
orders or sets may exist.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations, permutations

from constraints.circuit import Circuit, Literal
from corpus.graphs import components
from oracle.cat.algebra import Algebra, Relation


@dataclass(frozen=True, slots=True)
class PolarClauses(Algebra[Literal]):
    """The algebra over literals for checks of one polarity: with ``negative``, some check is to fail; else all are to
    hold.

    A literal then implies its truth, or its truth implies the literal, whichever the polarity needs, but not both.
    """

    circuit: Circuit = field(kw_only=True)
    negative: bool = field(kw_only=True)

    def is_acyclic(self, relation: Relation[Literal], positive: bool = False) -> Literal:
        """The literal that a relation has no cycle; ``positive``: it stands in a check of the model, under no
        negation."""
        if not positive:
            return Algebra.is_acyclic(self, relation)
        return self._has_no_way_on(relation) if self.negative else self._is_ordered(relation)

    def _is_ordered(self, relation: Relation[Literal]) -> Literal:
        """A literal that implies an order of all events that may be on one cycle: ``truth -> pair(e, f) -> e before
        f``."""
        circuit = self.circuit
        truth = circuit.fresh()
        for one, row in enumerate(relation):
            if one in row:
                circuit.require(~truth, ~row[one])
        for circle in components([list(row) for row in relation]):
            before: dict[tuple[int, int], Literal] = {}
            for one, other in combinations(sorted(circle), 2):
                there = before[one, other] = circuit.fresh()
                before[other, one] = ~there
            for one, middle, other in permutations(sorted(circle), 3):
                if one < middle and one < other:  # the other rotations of a cycle of three give equal clauses
                    circuit.require(~before[one, middle], ~before[middle, other], ~before[other, one])
            for (one, other), literal in before.items():
                if other in relation[one]:
                    circuit.require(~truth, ~relation[one][other], literal)
        return truth

    def _has_no_way_on(self, relation: Relation[Literal]) -> Literal:
        """``~truth -> some e is chosen``, and from each that is chosen a pair leads to one that is chosen."""
        circuit = self.circuit
        found: list[Literal] = [row[one] for one, row in enumerate(relation) if one in row]
        for circle in components([list(row) for row in relation]):
            if len(circle) < 2:
                continue
            chosen = {event: circuit.fresh() for event in sorted(circle)}
            for one, here in chosen.items():
                on = [pair & chosen[other] for other, pair in relation[one].items() if other in chosen and other != one]
                circuit.require(~here, *on)
            found += chosen.values()
        return ~circuit.any_of(found)
