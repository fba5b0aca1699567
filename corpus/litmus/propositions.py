"""Defines what a litmus test asks: a quantifier over executions, and a proposition over their final states."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from corpus.hashing import hashed_once
from corpus.litmus.locations import Loc


@dataclass(frozen=True, slots=True, order=True)
class FinalRegister:
    """The final value of a register, ``P1:r1``; threads are numbered from 0."""

    thread: int
    register: str


Term = int | FinalRegister | Loc


@dataclass(frozen=True, slots=True)
class Atom:
    """``left operation right`` over final values, the operation one of ``COMPARISONS``."""

    operation: str
    left: Term
    right: Term


@dataclass(frozen=True, slots=True)
class Not:
    """Negation."""

    body: Proposition


@dataclass(frozen=True, slots=True)
class And:
    """Conjunction; of nothing, true."""

    parts: tuple[Proposition, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """Disjunction; of nothing, false."""

    parts: tuple[Proposition, ...]


Proposition = Atom | Not | And | Or


class Quantifier(StrEnum):
    """What a condition claims of the allowed executions (those that pass its filter)."""

    EXISTS = "exists"
    NOT_EXISTS = "~exists"
    FORALL = "forall"


@hashed_once
@dataclass(frozen=True)
class Condition:
    """The question: a claim about final states. ``observed``: terms that runners print besides, ``locations [..]``."""

    quantifier: Quantifier
    proposition: Proposition
    filter: Proposition | None = None
    observed: tuple[Term, ...] = ()


def atoms_of(proposition: Proposition) -> Iterator[Atom]:
    """Return the comparisons of a proposition, from left to right."""
    match proposition:
        case Atom():
            yield proposition
        case Not(body):
            yield from atoms_of(body)
        case And(parts) | Or(parts):
            for part in parts:
                yield from atoms_of(part)


def map_atoms(proposition: Proposition, change: Callable[[Atom], Proposition]) -> Proposition:
    """Return a proposition with each comparison changed."""
    match proposition:
        case Atom():
            return change(proposition)
        case Not(body):
            return Not(map_atoms(body, change))
        case And(parts) | Or(parts):
            return replace(proposition, parts=tuple(map_atoms(part, change) for part in parts))


def conjunction(parts: Iterable[Proposition]) -> Proposition:
    """Return the conjunction of ``parts``, without an ``And`` in an ``And`` or around a single part."""
    flat = tuple(inner for part in parts for inner in (part.parts if isinstance(part, And) else (part,)))
    return flat[0] if len(flat) == 1 else And(flat)


def disjunction(parts: Iterable[Proposition]) -> Proposition:
    """Return the disjunction of ``parts``, without an ``Or`` in an ``Or`` or around a single part."""
    flat = tuple(inner for part in parts for inner in (part.parts if isinstance(part, Or) else (part,)))
    return flat[0] if len(flat) == 1 else Or(flat)


def propositions(condition: Condition) -> tuple[Proposition, ...]:
    """Return the propositions of a condition: its filter, if it has one, and its own."""
    return (condition.proposition,) if condition.filter is None else (condition.filter, condition.proposition)
