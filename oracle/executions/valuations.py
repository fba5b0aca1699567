"""Valuations: the possible values of an expression, each with the truth that it is the value.

A truth is a set of candidates or a literal, as in ``oracle.cat.algebra``. The values of an expression exclude each
other; where none of them is true, it has no value.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import product
from math import prod

from corpus.litmus.propositions import And, Atom, Not, Or, Proposition, Term
from oracle.cat.algebra import Algebra, T
from oracle.executions.events import Apply, Expression, Read
from oracle.executions.values import Value, calculate

MOST_CHOICES = 4_096
"""The most combinations of values of reads that are gone through for an expression."""

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
            if (joint := jointly(expression, reads)) is not None:
                for chosen, value in joint:
                    if value is not None:
                        both = algebra.true
                        for key, taken in chosen.items():
                            both = both & reads[key][taken]
                        add(valuation, value, both)
                return valuation
            others = evaluate(right, reads, algebra)
            for one, truth in evaluate(left, reads, algebra).items():
                for other, also in others.items():
                    value = calculate(operation, one, other)
                    if value is not None:
                        add(valuation, value, truth & also)
            return valuation
        case _:
            return {expression: algebra.true}


def jointly(
    expression: Expression, domains: Mapping[tuple[int, ...], Collection[Value]]
) -> Iterator[tuple[Mapping[tuple[int, ...], Value], Value | None]] | None:
    """Each choice of values of the reads in an expression with the value that it then has.

    None where each read occurs once, so that nothing is gained, or where the choices are too many.
    """
    places: dict[object, int] = {}
    parts: list[Read | Value | tuple[str, int, int]] = []
    again = False

    def place(part: Expression) -> int:
        nonlocal again
        name: object = id(part) if isinstance(part, Apply) else part
        if name not in places:
            here: Read | Value | tuple[str, int, int] = (
                (part.operation, place(part.left), place(part.right)) if isinstance(part, Apply) else part
            )
            places[name] = len(parts)
            parts.append(here)
        elif isinstance(part, Read | Apply):
            again = True
        return places[name]

    place(expression)
    keys = [part.event for part in parts if isinstance(part, Read)]
    if not again or prod(len(domains[key]) for key in keys) > MOST_CHOICES:
        return None

    def computed(known: Mapping[tuple[int, ...], Value]) -> Value | None:
        values: list[Value | None] = []
        for part in parts:
            match part:
                case Read(key):
                    values.append(known[key])
                case (operation, left, right):
                    one, other = values[left], values[right]
                    values.append(None if one is None or other is None else calculate(operation, one, other))
                case _:
                    values.append(part)
        return values[-1]

    choices = (dict(zip(keys, values, strict=True)) for values in product(*(domains[key] for key in keys)))
    return ((known, computed(known)) for known in choices)


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
