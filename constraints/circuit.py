"""Formulas under construction whose literals are truths of a relational algebra, so that a .cat model becomes clauses.

``&`` and ``|`` of two literals write the clauses of a gate. Gates are Tseitin's, in both directions. Each gate is made
once, so equal operands give one literal. A constant is simplified away at the gate that it meets. Only the constant
false is false in the sense of ``bool`` (see ``oracle.cat.algebra``).
"""

from __future__ import annotations

import gc
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType

from constraints.formula import Formula
from oracle.executions.steps import TooManyError

Name = tuple[Hashable, ...]
"""The name of a variable, such as ``("rf", w, r)``."""


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
    """A formula under construction, with gates.

    ``known`` gives the variables, by name, whose values are known. They become constants, and what they decide is not
    written. Raises ``TooManyError`` above ``most`` clauses.
    """

    def __init__(self, known: Mapping[Name, bool] = MappingProxyType({}), most: int | None = None) -> None:
        self.formula = Formula()
        self._known = known
        self._most = most
        self._literals: dict[int, Literal] = {}
        self._gates: dict[tuple[int, ...], Literal] = {}
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
        return self._gate((left, right) if left.number < right.number else (right, left))

    def _gate(self, operands: tuple[Literal, ...]) -> Literal:
        """The literal of a conjunction of different literals, sorted by their numbers."""
        key = tuple([operand.number for operand in operands])
        gate = self._gates.get(key)
        if gate is None:
            self._check_size()
            gate = self._gates[key] = self.var("and", *key)
            self.formula.define_and(gate.number, key)
        return gate

    def _check_size(self) -> None:
        if self._most is not None and len(self.formula.clauses) > self._most:
            raise TooManyError(f"more than {self._most} clauses say what is allowed")

    def require(self, *literals: Literal) -> None:
        """Adds a clause to the formula: at least one of the literals holds."""
        if self.true not in literals:
            self._check_size()
            self.formula.add(*(literal.number for literal in literals if literal is not self.false))

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
