"""A formula under construction, for certificates: variables by their meaning, clauses, gates, and an algebra over them.

A *gate* is a variable that is the conjunction of two literals, by three clauses (Tseitin 1968). Whatever the other
variables are, it has one value, so that no gate excludes anything. A model evaluated over literals
(``oracle.cat.interpreter``) is made of gates alone, except for checks of acyclicity. These have variables of their own:

- a relation has no cycle: an order of the events that goes along with every pair;
- a relation has a cycle: a set of events, each of which leads to one of the set.

``constraints.circuit``, by which the search writes its formulas, is not used.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import combinations, permutations

from corpus.graphs import components
from oracle.cat.algebra import Algebra, Relation
from oracle.certificates.clauses import CertifiedFormula, Clause
from oracle.executions.steps import TooManyError

MOST_CLAUSES = 3_000_000
"""The limit of a formula's clauses: the check of a proof for more would take gigabytes."""


class WrittenLiteral:
    """A literal of a formula under construction; ``&`` and ``|`` make gates. Equal literals are one object."""

    __slots__ = ("_writer", "number")

    def __init__(self, writer: Writer, number: int) -> None:
        self._writer = writer
        self.number = number

    def __and__(self, other: WrittenLiteral) -> WrittenLiteral:
        return self._writer.conjunction(self, other)

    def __or__(self, other: WrittenLiteral) -> WrittenLiteral:
        return ~(~self & ~other)

    def __invert__(self) -> WrittenLiteral:
        return self._writer.literal(-self.number)

    def __bool__(self) -> bool:
        """Whether the literal may be true: of all literals, only the constant false is known to be false."""
        return self is not self._writer.false


class Writer:
    """A formula under construction: its variables and clauses so far. Raises ``TooManyError`` above
    ``MOST_CLAUSES``."""

    def __init__(self) -> None:
        self._variables: dict[str, int] = {}
        self._clauses: list[Clause] = []
        self._literals: dict[int, WrittenLiteral] = {}
        self._gates: dict[tuple[int, int], WrittenLiteral] = {}
        self.true = self.variable("true")
        self.false = ~self.true
        self.require(self.true)

    @property
    def formula(self) -> CertifiedFormula:
        """The formula of all variables and clauses that have been written so far."""
        return CertifiedFormula(self._variables, self._clauses)

    def literal(self, number: int) -> WrittenLiteral:
        """The literal of a number, which is negative for the negation of a variable."""
        if number not in self._literals:
            self._literals[number] = WrittenLiteral(self, number)
        return self._literals[number]

    def variable(self, *words: object) -> WrittenLiteral:
        """The variable of a name, made where there is none yet."""
        name = " ".join(map(str, words))
        return self.literal(self._variables.setdefault(name, len(self._variables) + 1))

    def unnamed(self, what: str) -> WrittenLiteral:
        """A new variable, called by its number."""
        return self.variable(what, len(self._variables))

    def require(self, *literals: WrittenLiteral) -> None:
        """Adds a clause: one of the literals holds."""
        if self.true in literals and len(literals) > 1:
            return
        if len(self._clauses) >= MOST_CLAUSES:
            raise TooManyError(f"more than {MOST_CLAUSES} clauses say what is forbidden")
        self._clauses.append(tuple(literal.number for literal in literals if literal))

    def one_of(self, literals: Iterable[WrittenLiteral], where: WrittenLiteral | None = None) -> None:
        """Requires that exactly one of the literals holds, everywhere or where another literal does."""
        unless = [] if where is None else [~where]
        some = list(literals)
        self.require(*unless, *some)
        for one, other in combinations(some, 2):
            self.require(*unless, ~one, ~other)

    def conjunction(self, one: WrittenLiteral, other: WrittenLiteral) -> WrittenLiteral:
        """The literal of ``one & other``, made by a gate unless a constant or an earlier gate decides it."""
        if one is other or other is self.true:
            return one
        if one is self.true:
            return other
        if not one or not other or one is ~other:
            return self.false
        pair = min(one.number, other.number), max(one.number, other.number)
        gate = self._gates.get(pair)
        if gate is None:
            gate = self._gates[pair] = self.variable("and", *pair)
            self.require(~gate, one)
            self.require(~gate, other)
            self.require(~one, ~other, gate)
        return gate

    def any_of(self, literals: Iterable[WrittenLiteral]) -> WrittenLiteral:
        """The literal of a disjunction, which is the constant false where there are no operands."""
        found = self.false
        for literal in literals:
            found = found | literal
        return found

    def all_of(self, literals: Iterable[WrittenLiteral]) -> WrittenLiteral:
        """The literal of a conjunction, which is the constant true where there are no operands."""
        return ~self.any_of(~literal for literal in literals)


@dataclass(frozen=True, slots=True)
class Literals(Algebra[WrittenLiteral]):
    """The relational algebra whose truths are literals of a formula under construction.

    ``fails``: one of the checks that a model requires is to fail; else all are to hold. If checks are to hold, the
    literal of a check implies the check. If one is to fail, a false literal implies that the check fails. The other
    direction is left open.
    """

    writer: Writer = field(kw_only=True)
    fails: bool = field(kw_only=True)

    def is_acyclic(self, relation: Relation[WrittenLiteral], positive: bool = False) -> WrittenLiteral:
        """The literal that a relation has no cycle; by its closure, where the check stands under a negation or is a
        flag."""
        if not positive:
            return Algebra.is_acyclic(self, relation)
        return ~self._circle(relation) if self.fails else self._ordered(relation)

    def _ordered(self, relation: Relation[WrittenLiteral]) -> WrittenLiteral:
        """Implies an order of the events that every pair goes along with."""
        writer = self.writer
        holds = writer.unnamed("acyclic")
        for one, row in enumerate(relation):
            if one in row:
                writer.require(~holds, ~row[one])
        for circle in _circles(relation):
            before: dict[tuple[int, int], WrittenLiteral] = {}
            for one, other in combinations(circle, 2):
                before[one, other] = writer.unnamed("before")
                before[other, one] = ~before[one, other]
            for one, middle, other in permutations(circle, 3):
                if one == min(one, middle, other):
                    writer.require(~before[one, middle], ~before[middle, other], before[one, other])
            for (one, other), along in before.items():
                if other in relation[one]:
                    writer.require(~holds, ~relation[one][other], along)
        return holds

    def _circle(self, relation: Relation[WrittenLiteral]) -> WrittenLiteral:
        """Implies some event that leads to itself, or a set of events each of which leads to one of the set."""
        writer = self.writer
        found = [row[one] for one, row in enumerate(relation) if one in row]
        for circle in _circles(relation):
            member = {one: writer.unnamed("on circle") for one in circle}
            for one in circle:
                onward = (
                    pair & member[other] for other, pair in relation[one].items() if other in member and other != one
                )
                writer.require(~member[one], *onward)
            found += member.values()
        return writer.any_of(found)


def _circles(relation: Iterable[Mapping[int, WrittenLiteral]]) -> list[list[int]]:
    """Events that may be on a circle of several together."""
    return [sorted(circle) for circle in components([list(row) for row in relation]) if len(circle) > 1]
