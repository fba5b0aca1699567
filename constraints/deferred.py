"""Circuits whose gates are written when they are asked for, in the direction in which they are asked for.

Worked example: a clause asks for ``g = a & b`` to be false where ``c`` holds. What has to be known of ``g`` is that it
is true where ``a`` and ``b`` are, and of such a gate not even the variable is needed.

>>> circuit = DeferredCircuit()
>>> a, b, c, d = (circuit.var(name) for name in "abcd")
>>> known = len(circuit.formula.clauses)
>>> circuit.require(~c, ~(a & b))
>>> circuit.formula.clauses[known:]
[[-4, -2, -3]]

Where a clause asks for ``g`` to be true, it implies its operands, by a clause for each. Nothing says that it is true
where they are.

>>> circuit.require(c, d, a & b)
>>> circuit.formula.clauses[known + 1:]
[[4, 5, 6], [-6, 2], [-6, 3]]

So of a gate that only clauses of one kind ask for, half of the clauses are written, and none of a gate that nobody asks
for. In a model of such a formula the variable of a gate says little. ``Assignment`` computes gates from the variables
that have a meaning.

Source: Plaisted and Greenbaum, "A structure-preserving clause form translation" (J. Symbolic Computation 1986).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import neg
from types import MappingProxyType

from constraints.circuit import Circuit, Literal, Name
from constraints.formula import Clause

MOST_INLINE = 3
"""The most operands of a conjunction whose negation is written out in a clause."""


class DeferredCircuit(Circuit):
    """A formula under construction, with gates of any number of operands.

    Who asks a solver under assumptions asks for them first (``assumptions``), and reads models by an ``Assignment``.
    """

    def __init__(self, known: Mapping[Name, bool] = MappingProxyType({})) -> None:
        super().__init__(known)
        self.operands: dict[int, tuple[Literal, ...]] = {}
        """The literals whose conjunction the gate with a variable is."""
        self._unwritten: dict[int, tuple[int, ...]] = {}
        """The operands of gates, as numbers, by the literals whose meaning is not in the formula yet: a gate's own, as
        long as its operands need not be true where it is, and its negation, as long as it need not be true where they
        are.
        """

    def all_of(self, literals: Iterable[Literal]) -> Literal:
        """The literal of a conjunction, which is the constant true where there are no operands."""
        operands = {literal.number: literal for literal in literals if literal is not self.true}
        if -self.true.number in operands or not operands.keys().isdisjoint(map(neg, operands)):
            return self.false
        if len(operands) < 2:
            return next(iter(operands.values()), self.true)
        return self._gate(tuple([operands[number] for number in sorted(operands)]))

    def any_of(self, literals: Iterable[Literal]) -> Literal:
        """The literal of a disjunction, which is the constant false where there are no operands."""
        return ~self.all_of([~literal for literal in literals])

    def _gate(self, operands: tuple[Literal, ...]) -> Literal:
        key = tuple([operand.number for operand in operands])
        gate = self._gates.get(key)
        if gate is None:
            gate, _ = Literal.pair(self, self.formula.fresh())
            self._gates[key] = gate
            self.operands[gate.number] = operands
            self._unwritten[gate.number] = self._unwritten[-gate.number] = key
        return gate

    def require(self, *literals: Literal) -> None:
        """Adds a clause to the formula: at least one of the literals holds."""
        if self.true in literals:
            return
        clause = [literal.number for literal in literals if literal is not self.false]
        if len(clause) == 1 and clause[0] in self.operands:
            for operand in self.operands[clause[0]]:
                self.require(operand)
        else:
            self._write([([], clause)])

    def assumptions(self, literals: Iterable[Literal]) -> list[int]:
        """The literals as numbers that a solver may be asked to assume, once what they mean is in the formula."""
        numbers = [literal.number for literal in literals]
        for number in numbers:
            self._write(self._needed(number))
        return numbers

    def _write(self, clauses: list[tuple[Clause, Clause]]) -> None:
        """Adds clauses, and what the gates in them need. The first part of a clause is the gate that it defines."""
        while clauses:
            head, rest = clauses.pop()
            clause = self._written_out(head, rest)
            if clause is not None:
                self.formula.clauses.append(clause)
                for number in clause[len(head) :]:
                    if number in self._unwritten:
                        clauses += self._needed(number)

    def _needed(self, number: int) -> list[tuple[Clause, Clause]]:
        """The clauses without which a literal that is to be true would mean nothing, once for each literal."""
        operands = self._unwritten.pop(number, ())
        if number > 0:
            return [([-number], [operand]) for operand in reversed(operands)]
        return [([-number], [-operand for operand in operands])] if operands else []

    def _written_out(self, head: Clause, clause: Clause) -> Clause | None:
        """A clause with short conjunctions that it negates written out; None where it holds anyway."""
        found = dict.fromkeys(head)
        waiting, false = clause[::-1], -self.true.number
        while waiting:
            number = waiting.pop()
            operands = self._unwritten.get(number, ()) if number < 0 else ()
            if 0 < len(operands) <= MOST_INLINE:
                waiting += [-operand for operand in reversed(operands)]
            elif number != false:
                found[number] = None
        return list(found) if found.keys().isdisjoint(map(neg, found)) else None


class Assignment:
    """The truth of every literal in a model of a circuit's formula; ``model`` has the literals that are true.

    A variable that no clause has is false.
    """

    def __init__(self, circuit: DeferredCircuit, model: Sequence[int]) -> None:
        self._circuit = circuit
        self._true = {number for number in model if number > 0}
        self._gates: dict[int, bool] = {}

    def has(self, variable: int) -> bool:
        """Whether a variable with a meaning is true."""
        return variable in self._true

    def holds(self, literal: Literal) -> bool:
        """Return whether a literal is true in the model that the solver has found."""
        waiting = [abs(literal.number)]
        while waiting:
            number = waiting[-1]
            if number in self._gates:
                waiting.pop()
                continue
            operands = self._circuit.operands.get(number)
            if operands is None:
                self._gates[number] = number in self._true
                continue
            unknown = [n for operand in operands if (n := abs(operand.number)) not in self._gates]
            if unknown:
                waiting += unknown
            else:
                self._gates[number] = all(self._gates[abs(op.number)] == (op.number > 0) for op in operands)
        return self._gates[abs(literal.number)] == (literal.number > 0)
