"""Valuations: the possible values of an expression, each with the truth that it is the value.

A truth is a set of candidates or a literal, as in ``oracle.cat.algebra``. The values of an expression exclude each
other; where none of them is true, it has no value.
"""

from __future__ import annotations

from collections.abc import Mapping

from corpus.litmus.test import And, Atom, Not, Or, Proposition, Term
from oracle.cat.algebra import Algebra, T
from oracle.executions.events import Apply, Expression, Read
from oracle.executions.values import Value, calculate

Valuation = Mapping[Value, T]


def evaluate(
    expression: Expression, reads: Mapping[tuple[int, ...], Valuation[T]], algebra: Algebra[T]
) -> Valuation[T]:
    """The values of an expression, given those of the reads in it; none where it has no meaning."""
    match expression:
        case Read(key):
            return reads[key]
        case Apply(operation, left, right):
            valuation: dict[Value, T] = {}
            others = evaluate(right, reads, algebra)
            for one, truth in evaluate(left, reads, algebra).items():
                for other, also in others.items():
                    value = calculate(operation, one, other)
                    if value is not None:
                        add(valuation, value, truth & also)
            return valuation
        case _:
            return {expression: algebra.true}


def compared(operation: str, left: Valuation[T], right: Valuation[T], algebra: Algebra[T]) -> T:
    """The truth of a comparison of two valuations."""
    total = algebra.negate(algebra.true)
    for one, truth in left.items():
        for other, also in right.items():
            if calculate(operation, one, other) == 1:
                total = total | (truth & also)
    return total


def satisfied(proposition: Proposition, finals: Mapping[Term, Valuation[T]], algebra: Algebra[T]) -> T:
    """The truth of a proposition over the valuations of final registers and locations."""

    def value(term: Term) -> Valuation[T]:
        return {term: algebra.true} if isinstance(term, int) else finals[term]

    match proposition:
        case Atom(operation, left, right):
            return compared(operation, value(left), value(right), algebra)
        case Not(body):
            return algebra.negate(satisfied(body, finals, algebra))
        case And(parts):
            total = algebra.true
            for part in parts:
                total = total & satisfied(part, finals, algebra)
            return total
        case Or(parts):
            total = algebra.negate(algebra.true)
            for part in parts:
                total = total | satisfied(part, finals, algebra)
            return total


def add(valuation: dict[Value, T], value: Value, truth: T) -> None:
    """Adds to a valuation one more way to have a value."""
    if truth:
        valuation[value] = valuation[value] | truth if value in valuation else truth


def value_in(expression: Expression, known: Mapping[tuple[int, ...], Value]) -> Value:
    """The value of an expression, given those of the reads in it."""
    match expression:
        case Read(key):
            return known[key]
        case Apply(operation, left, right):
            value = calculate(operation, value_in(left, known), value_in(right, known))
            assert value is not None
            return value
        case _:
            return expression
