"""The syntax of a .cat model once it is read: terms over sets and relations, definitions, checks.

The rest of the language is reduced to these (``oracle.cat.elaboration``). So code that walks a model, to judge by it or
to find its dependencies, handles four kinds of terms and three of statements.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

MOST_NESTED = 150
"""The limit of nested operators in one expression; a chain as ``a | b | c`` nests, too."""

MOST_BLOCKS = 50
"""The limit of nested blocks of statements: of ``if``, ``match``, ``forall``, and of procedures that are called."""

MOST_STATEMENTS = 2_000
"""The limit of definitions and checks of a model, its includes in place."""

MOST_PARTS = 100_000
"""The limit of parts of a model's text, where an included file or a function's body counts each time it is put in."""


class FilePosition(NamedTuple):
    """A position in a file; lines and columns count from 1."""

    path: str
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Name:
    """A set, relation or function, referred to by its name."""

    name: str
    position: FilePosition


@dataclass(frozen=True, slots=True)
class Constant:
    """A constant of the language: ``0``, the empty set or relation, or ``_``, the set of all events."""

    symbol: str
    position: FilePosition


@dataclass(frozen=True, slots=True)
class Operation:
    """An operator applied to its operands. ``kind`` is one of ``OPERATORS``."""

    kind: str
    operands: tuple[Term, ...]
    position: FilePosition


@dataclass(frozen=True, slots=True)
class Call:
    """A function, by its name, applied to arguments."""

    name: str
    arguments: tuple[Term, ...]
    position: FilePosition


Term = Name | Constant | Operation | Call

HOLE = "?"
"""The first character of the name of a hole. In a sketch (``oracle.inference.sketch``) a hole is a function of its
alternatives."""


def alternative_name(hole: str, number: int) -> str:
    """The name of the set of a base that has all events where a hole is filled by its alternative of a number."""
    return f"{hole}={number}"


def hole_name(token: str) -> str:
    """The name of a hole by its beginning in the text: ``?ww`` for ``? ww :``."""
    return HOLE + token.strip("?: \t\n")


OPERATORS = (
    *("union", "compose", "difference", "intersection", "complement", "product", "identity"),
    *("plus", "star", "optional", "inverse", "otherwise"),
)
"""``otherwise`` is ``try .. with ..``: the first operand where all its names have a meaning, else the second. A model
that has been checked has none of it left."""


@dataclass(frozen=True, slots=True)
class LetBinding:
    """A name bound to a term, ``name(parameters) = body``; a function where it has parameters."""

    name: str
    parameters: tuple[str, ...]
    body: Term
    position: FilePosition


@dataclass(frozen=True, slots=True)
class Definition:
    """A ``let .. and ..``, none of whose bodies mentions these bindings; or, ``recursive``, a ``let rec .. and ..``."""

    bindings: tuple[LetBinding, ...]
    recursive: bool


@dataclass(frozen=True, slots=True)
class ModelCheck:
    """A check ``acyclic|irreflexive|empty body as name``; ``negated``: with ``~`` before it.

    A flag (``flag``) is raised where its check holds, and only reported; any other check must hold.
    """

    kind: str
    body: Term
    name: str
    negated: bool
    flag: bool
    position: FilePosition


@dataclass(frozen=True, slots=True)
class Linearisation:
    """A choice ``with name from linearisations(events, ..)``: each total order of a set is an execution of its own.

    A check that follows requires that the order holds the relation that it must.
    """

    name: str
    events: Term
    position: FilePosition


Statement = Definition | ModelCheck | Linearisation


@dataclass(frozen=True, slots=True)
class ModelSyntax:
    """A model as it is written, with its includes in place.

    ``partial_co``: it asks for partial coherence orders. ``one_event``: it is written for atomic updates that are one
    event each (``oracle.cat.updates``). ``digest``: SHA-256, in hexadecimal, of its text's digest and those of the
    files that it includes, in their order; where the files lie is not part of it. ``over_members``: where it first goes
    over the members of a set of events, so that not all that it says is among its statements
    (``oracle.executions.members``).
    """

    title: str
    statements: tuple[Statement, ...]
    partial_co: bool
    one_event: bool
    digest: str
    over_members: FilePosition | None = None


def bodies_of(statement: Statement) -> Sequence[Term]:
    """The terms that are the bodies of a statement."""
    match statement:
        case ModelCheck(body=body):
            return [body]
        case Linearisation(events=events):
            return [events]
        case Definition(bindings=bindings):
            return [binding.body for binding in bindings]


def subterms(term: Term) -> Iterator[Term]:
    """A term and all of its subterms."""
    left = [term]
    while left:
        part = left.pop()
        yield part
        left += reversed(operands_of(part))


def nesting(term: Term) -> int:
    """The depth to which names and operators are nested in a term: 3 in ``(a; b)^+``."""
    levels, level = 0, [term]
    while level:
        levels, level = levels + 1, [operand for part in level for operand in operands_of(part)]
    return levels


def operands_of(term: Term) -> Sequence[Term]:
    """The terms to which an operator or a function is applied; none for a name or constant."""
    return term.operands if isinstance(term, Operation) else term.arguments if isinstance(term, Call) else ()


def holes_of(statements: Iterable[Statement]) -> Iterator[Call]:
    """The holes in some statements, as the calls that they are, in the order of the text."""
    for statement in statements:
        for body in bodies_of(statement):
            for part in subterms(body):
                if isinstance(part, Call) and part.name[0] == HOLE:
                    yield part
