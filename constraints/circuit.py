"""The relational algebra whose truths are literals, so that evaluating a .cat model writes clauses.

``&`` and ``|`` of two literals write the clauses of a gate. Gates are Tseitin's, in both directions. Each gate is made
once, so equal operands give one literal. A constant is simplified away at the gate that it meets. Only the constant
false is false in the sense of ``bool`` (see ``oracle.cat.algebra``).
"""

from __future__ import annotations

import gc
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import MappingProxyType

from constraints.formula import Formula
from oracle.cat.algebra import Algebra, Relation
from oracle.executions.steps import TooManyError
from oracle.graphs import components

MOST_CLAUSES = 3_000_000
"""The limit of a circuit's clauses: a solver takes some two gigabytes for so many."""

Name = tuple[Hashable, ...]
"""The name of a variable, such as ``("rf", w, r)``."""

LARGE_CIRCLE = 16
"""The number of events that may be on a cycle together, above which acyclicity is encoded by numbers, not by a
closure."""


@contextmanager
def building() -> Iterator[None]:
    """A context in which Python collects no garbage, for a circuit that grows keeps its million objects."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


class Literal:
    """A literal of a circuit's formula; the circuit has one object for each literal, so equal literals are
    identical."""

    __slots__ = ("_circuit", "_negation", "number")
    _negation: Literal

    def __init__(self, circuit: Circuit, number: int) -> None:
        self._circuit = circuit
        self.number = number

    @staticmethod
    def pair(circuit: Circuit, number: int) -> tuple[Literal, Literal]:
        """The literal with a number, and its negation, which know each other."""
        one, other = Literal(circuit, number), Literal(circuit, -number)
        one._negation, other._negation = other, one
        return one, other

    def __and__(self, other: Literal) -> Literal:
        return self._circuit.conjunction(self, other)

    def __or__(self, other: Literal) -> Literal:
        return self._circuit.conjunction(self._negation, other._negation)._negation

    def __invert__(self) -> Literal:
        return self._negation

    def __bool__(self) -> bool:
        return self is not self._circuit.false

    def holds(self, model: Sequence[int]) -> bool:
        """Whether the literal is true in a model of the formula; ``model[v - 1]`` is the literal of variable ``v``."""
        return model[abs(self.number) - 1] == self.number


class Circuit:
    """A formula under construction, with gates. Raises ``TooManyError`` above ``MOST_CLAUSES``.

    ``known`` gives the variables, by name, whose values are known. They become constants, and what they decide is not
    written.
    """

    def __init__(self, known: Mapping[Name, bool] = MappingProxyType({})) -> None:
        self.formula = Formula()
        self._known = known
        self._literals: dict[int, Literal] = {}
        self._gates: dict[tuple[int, int], Literal] = {}
        self.true = self.literal(self.formula.var("true"))
        self.false = self.literal(-self.true.number)
        self.formula.add(self.true.number)

    def literal(self, number: int) -> Literal:
        """The literal with a number in DIMACS' sense: positive for a variable, negative for its negation."""
        if number not in self._literals:
            self._literals[number], self._literals[-number] = Literal.pair(self, number)
        return self._literals[number]

    def var(self, *name: Hashable) -> Literal:
        """The positive literal of a variable, or the constant that it is known to be."""
        known = self._known.get(name)
        if known is not None:
            return self.true if known else self.false
        return self.literal(self.formula.var(*name))

    def fresh(self) -> Literal:
        """The positive literal of a variable without a meaning of its own."""
        return self.var("fresh", self.formula.variables)

    def conjunction(self, left: Literal, right: Literal) -> Literal:
        """The literal of ``left & right``, made by a gate unless a constant or an earlier gate decides it."""
        if left is right or right is self.true:
            return left
        if left is self.true:
            return right
        if left is self.false or right is self.false or left is ~right:
            return self.false
        one, other = left.number, right.number
        if one > other:
            one, other = other, one
        gate = self._gates.get((one, other))
        if gate is None:
            self._check_size()
            gate = self._gates[one, other] = self.var("and", one, other)
            self.formula.define_and(gate.number, (one, other))
        return gate

    def require(self, *literals: Literal) -> None:
        """Adds a clause to the formula: at least one of the literals holds."""
        if self.true not in literals:
            self._check_size()
            self.formula.add(*(literal.number for literal in literals if literal is not self.false))

    def _check_size(self) -> None:
        if len(self.formula.clauses) > MOST_CLAUSES:
            raise TooManyError(f"more than {MOST_CLAUSES} clauses say what is allowed")

    def exactly_one(self, literals: Sequence[Literal], where: Literal) -> None:
        """Requires that exactly one of some literals holds wherever the literal ``where`` does."""
        self.require(~where, *literals)
        for number, one in enumerate(literals):
            for other in literals[:number]:
                self.require(~where, ~one, ~other)

    def any_of(self, literals: Iterable[Literal]) -> Literal:
        """The literal of a disjunction, which is the constant false where there are no operands."""
        total = self.false
        for literal in literals:
            total = total | literal
        return total

    def algebra(self, executed: Sequence[Literal], positive: bool = False) -> Algebra[Literal]:
        """The relational algebra over this circuit, for events that happen where the literals ``executed`` hold.

        ``positive``: the formula requires the checks of a model and never their negations, so that their literals have
        positive polarity.

        Equal gates are one literal. Two literals whose equality follows only from the clauses may be different objects.
        """
        return Clauses(self.true, lambda literal: ~literal, executed, exact=False, circuit=self, positive=positive)

    def less(self, where: Literal, left: Sequence[Literal], right: Sequence[Literal]) -> None:
        """Requires, where the literal ``where`` holds, that the number ``left`` is less than the number ``right``.

        Both numbers have equally many bits, each a literal, the highest first.
        """
        for number, (one, other) in enumerate(zip(left, right, strict=True)):
            rest = self.fresh() if number + 1 < len(left) else self.false
            self.require(~where, ~one, other)
            self.require(~where, one, other, rest)
            self.require(~where, ~one, ~other, rest)
            where = rest


@dataclass(frozen=True, slots=True)
class Clauses(Algebra[Literal]):
    """The relational algebra whose truths are the literals of a circuit."""

    circuit: Circuit = field(kw_only=True)
    positive: bool = field(kw_only=True)

    def is_acyclic(self, relation: Relation[Literal], positive: bool = False) -> Literal:
        """The literal that a relation has no cycle.

        Where the check has positive polarity and closures are large, events are numbered, and each pair leads to a
        higher number. That takes 3 clauses for each bit of the number and each pair, in place of some n^3 gates.
        Numbers are given only to events that may be on a cycle together. Pairs that are certain are closed at once: a
        pair against them is excluded, and a pair along them needs no clauses.
        """
        if not (positive and self.positive) or max(map(len, _circles(relation)), default=0) <= LARGE_CIRCLE:
            return Algebra.is_acyclic(self, relation, positive)
        circuit = self.circuit
        truth = circuit.fresh()
        ahead = _closed([[other for other, pair in row.items() if pair is circuit.true] for row in relation])
        open_pairs: list[dict[int, Literal]] = [{} for _ in relation]
        for one, row in enumerate(relation):
            between = [middle for middle in range(len(relation)) if ahead[one] >> middle & 1]
            for other, pair in row.items():
                if other == one or ahead[other] >> one & 1:
                    circuit.require(~truth, ~pair)
                elif not ahead[one] >> other & 1 or not any(ahead[middle] >> other & 1 for middle in between):
                    open_pairs[one][other] = pair
        for circle in _circles(open_pairs):
            bits = range(len(circle).bit_length() + 1)  # spare numbers, for without them the last ones are hard to find
            number = {event: [circuit.fresh() for _ in bits] for event in sorted(circle)}
            for one in number:
                for other, pair in open_pairs[one].items():
                    if other in number:
                        back = open_pairs[other].get(one)
                        if back is not None and one < other:
                            circuit.require(~truth, ~pair, ~back)
                        circuit.less(truth & pair, number[one], number[other])
        return truth


def _circles(relation: Sequence[Mapping[int, Literal]]) -> list[list[int]]:
    """Events that may be on a cycle together."""
    return components([list(row) for row in relation])


def _closed(rows: Sequence[Sequence[int]]) -> list[int]:
    """The nodes that paths of at least one edge lead to, from each, as the bits of a number."""
    ahead = [sum(1 << other for other in row) for row in rows]
    for middle in range(len(ahead)):
        for one in range(len(ahead)):
            if ahead[one] >> middle & 1:
                ahead[one] |= ahead[middle]
    return ahead
