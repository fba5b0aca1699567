"""What a piece of a .cat model's text may mean while it is read, besides a term: tags, tuples, functions, orders.

Where it stands is a scope: the file, and what names mean there. What is wrong or not supported is said with its place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from corpus.errors import InputError
from corpus.lalr import Token, Tree
from corpus.syntax import leaves, subtrees
from oracle.cat.terms import FilePosition, Term


class UnsupportedError(InputError):
    """Right by the language, and more than is done here; the message says what it would take."""


class MembersError(UnsupportedError):
    """What takes the members of a set of events or relations, which are only known of an execution."""


class NotOfTermsError(Exception):
    """A function that does not only take and give sets and relations."""


@dataclass(frozen=True, slots=True)
class Tag:
    """``'name``."""

    name: str


@dataclass(frozen=True, slots=True)
class Tags:
    """A set of tags, in the order in which it was written."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """A tuple."""

    members: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Function:
    """What is put in where it is applied; ``body`` is a procedure's where it has statements."""

    parameters: tuple[str, ...]
    body: Sequence[Tree]
    scope: NameScope
    procedure: bool = False


@dataclass(frozen=True, slots=True)
class Orders:
    """Orders of some events, of writes where no set is said, that hold a relation: ``total``, or for each location."""

    events: Term | None
    within: Term
    total: bool


@dataclass(frozen=True, slots=True)
class Member:
    """An event or a pair of events, by the set or relation that has nothing else."""

    term: Term
    is_pair: bool


@dataclass(frozen=True, slots=True)
class SetOfSets:
    """A set of sets, of relations, or of tuples."""

    members: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Absent:
    """What takes more than is done here; who needs it is told so."""

    error: UnsupportedError


Value = Term | Tag | Tags | Group | Function | Orders | Member | SetOfSets | Absent


@dataclass(frozen=True, slots=True)
class NameScope:
    """Where a piece of text stands: its file, those that include it, and what names mean there that are no terms' own.

    ``within``: what the names that are defined here are hidden in; at a file's top, in nothing. ``defined``, in a
    function's body: how often each name had been defined by then.
    """

    path: str
    above: tuple[str, ...] = ()
    names: Mapping[str, Value] = field(default_factory=dict)
    within: str = ""
    defined: Mapping[str, int] | None = None


Include = Callable[[Token, NameScope], tuple[Tree, NameScope]]
"""The tree of a file that is included, and the scope of its text."""


def applied(tree: Tree) -> tuple[str, list[Tree]]:
    """The name and the arguments of a function that is applied; no name where it has none."""
    if tree.data == "application" and leaves(tree):
        (argument,) = subtrees(tree)
        return str(leaves(tree)[0]), subtrees(argument) if argument.data == "tuple" else [argument]
    return "", [tree]


def naming(scope: NameScope, names: Mapping[str, Value]) -> NameScope:
    """The scope with names that mean something there."""
    return replace(scope, names={**scope.names, **names})


def matched(parameters: Sequence[str], given: Value, what: str, position: FilePosition) -> dict[str, Value]:
    """The parameters of a function with what is given for them. Raises ``InputError`` where they are not as many."""
    if len(parameters) == 1:
        return {parameters[0]: given}
    members = given.members if isinstance(given, Group) else (given,)
    if len(members) != len(parameters):
        raise error(f"{what} takes {len(parameters)} arguments, found {len(members)}", position)
    return dict(zip(parameters, members, strict=True))


def names_of(value: Value) -> tuple[str, ...]:
    """The tags of a value, if it is tags."""
    return (value.name,) if isinstance(value, Tag) else value.names if isinstance(value, Tags) else ()


def pattern_of(binding: Tree) -> Tree | None:
    """The pattern of parameters of a definition, if it is a function's."""
    first = subtrees(binding)[0]
    return first if first.data == "pattern" else None


def formals(pattern: Tree | None) -> tuple[str, ...]:
    """The parameters of a pattern."""
    assert pattern is not None
    return tuple(map(formal, subtrees(pattern)))


def formal(tree: Tree) -> str:
    """One parameter."""
    return str(leaves(tree)[0])


def check_apart(names: Sequence[tuple[str, FilePosition]]) -> None:
    """Raises ``InputError`` where a name is defined twice at once."""
    counted = Counter(name for name, _ in names)
    for name, position in names:
        if counted[name] > 1:
            raise error(f"'{name}' is defined twice at once", position)


def at(tree: Tree, scope: NameScope) -> FilePosition:
    """Where a tree begins."""
    return FilePosition(scope.path, tree.line, tree.column)


def place_of(token: Token, scope: NameScope) -> FilePosition:
    """Where a token is."""
    return FilePosition(scope.path, token.line or 0, token.column or 0)


def too_deep(most: int, position: FilePosition) -> InputError:
    """The error for operators too deep within each other."""
    return error(f"more than {most} operators within each other: name a part by let", position)


def members_unknown(what: str, position: FilePosition) -> MembersError:
    """The error for what takes the members of a set of events or relations."""
    return MembersError(f"not supported: {what}; it would take sets whose members are known", *position)


def unsupported(what: str, takes: str, position: FilePosition) -> UnsupportedError:
    """The error for what is right by the language and not done here, and what it would take."""
    takes = takes if takes.startswith("it would") else f"it would take {takes}"
    return UnsupportedError(f"not supported: {what}; {takes}", *position)


def error(message: str, position: FilePosition) -> InputError:
    """An error with its place."""
    return InputError(message, *position)
