"""The meanings of pieces of a .cat model's text, besides terms, while it is read: tags, tuples, functions, orders.

A piece of text stands in a scope: the file, and what names mean there. Errors, and parts of the language that are not
supported, are reported with their position.
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
    """Text that is right by the language but not supported here; the message says what supporting it would take."""


class MembersError(UnsupportedError):
    """An expression over the members of a set of events or relations, which are known only of a given execution."""


class NotOfTermsError(Exception):
    """A function with an argument or result that is neither a set nor a relation."""


@dataclass(frozen=True, slots=True)
class Tag:
    """A tag of the language, written ``'name``, which is a member of an enumeration."""

    name: str


@dataclass(frozen=True, slots=True)
class Tags:
    """A set of tags, in the order in which it was written."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """A tuple of values, such as the arguments of a function."""

    members: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Function:
    """A function that is put in where it is applied; ``body`` is a procedure's where it has statements."""

    parameters: tuple[str, ...]
    body: Sequence[Tree]
    scope: NameScope
    procedure: bool = False


@dataclass(frozen=True, slots=True)
class Orders:
    """Orders of some events that hold a relation: ``total``, or for each location; of writes where no set is given."""

    events: Term | None
    within: Term
    total: bool


@dataclass(frozen=True, slots=True)
class Member:
    """An event or a pair of events, represented by the set or relation that has it alone."""

    term: Term
    is_pair: bool


@dataclass(frozen=True, slots=True)
class SetOfSets:
    """A set whose members are sets, relations or tuples."""

    members: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Absent:
    """A value that is not supported here; its error is raised where it is needed."""

    error: UnsupportedError


Value = Term | Tag | Tags | Group | Function | Orders | Member | SetOfSets | Absent


@dataclass(frozen=True, slots=True)
class NameScope:
    """The scope of a piece of text: its file, the files that include it, and what names mean there that are no terms'
    own.

    ``within``: the definition in which the names that are defined here are local; none at a file's top. ``defined``, in
    a function's body: how often each name had been defined by then.
    """

    path: str
    above: tuple[str, ...] = ()
    names: Mapping[str, Value] = field(default_factory=dict)
    within: str = ""
    defined: Mapping[str, int] | None = None


Include = Callable[[Token, NameScope], tuple[Tree, NameScope]]
"""A function that gives the tree of a file that is included, and the scope of its text."""


def applied(tree: Tree) -> tuple[str, list[Tree]]:
    """The name and the arguments of a function that is applied; no name where the function has none."""
    if tree.data == "application" and leaves(tree):
        (argument,) = subtrees(tree)
        return str(leaves(tree)[0]), subtrees(argument) if argument.data == "tuple" else [argument]
    return "", [tree]


def naming(scope: NameScope, names: Mapping[str, Value]) -> NameScope:
    """The scope in which some further names have meanings."""
    return replace(scope, names={**scope.names, **names})


def matched(parameters: Sequence[str], given: Value, what: str, position: FilePosition) -> dict[str, Value]:
    """The parameters of a function, each with its argument. Raises ``InputError`` where the numbers differ."""
    if len(parameters) == 1:
        return {parameters[0]: given}
    members = given.members if isinstance(given, Group) else (given,)
    if len(members) != len(parameters):
        raise error(f"{what} takes {len(parameters)} arguments, found {len(members)}", position)
    return dict(zip(parameters, members, strict=True))


def names_of(value: Value) -> tuple[str, ...]:
    """The names of the tags of a value, if it is a set of tags."""
    return (value.name,) if isinstance(value, Tag) else value.names if isinstance(value, Tags) else ()


def pattern_of(binding: Tree) -> Tree | None:
    """The pattern of parameters of a definition, if it defines a function."""
    first = subtrees(binding)[0]
    return first if first.data == "pattern" else None


def formals(pattern: Tree | None) -> tuple[str, ...]:
    """The names of the parameters of a pattern, in their order."""
    assert pattern is not None
    return tuple(map(formal, subtrees(pattern)))


def formal(tree: Tree) -> str:
    """The name of one parameter of a pattern."""
    return str(leaves(tree)[0])


def check_apart(names: Sequence[tuple[str, FilePosition]]) -> None:
    """Raises ``InputError`` where one pattern or definition binds a name twice."""
    counted = Counter(name for name, _ in names)
    for name, position in names:
        if counted[name] > 1:
            raise error(f"'{name}' is defined twice at once", position)


def position_of(tree: Tree, scope: NameScope) -> FilePosition:
    """The position in its file at which a syntax tree begins."""
    return FilePosition(scope.path, tree.line, tree.column)


def place_of(token: Token, scope: NameScope) -> FilePosition:
    """The position of a token in its file."""
    return FilePosition(scope.path, token.line or 0, token.column or 0)


def too_deep(most: int, position: FilePosition) -> InputError:
    """The error for operators that are nested too deeply."""
    return error(f"more than {most} operators within each other: name a part by let", position)


def members_unknown(what: str, position: FilePosition) -> MembersError:
    """The error for an expression over the members of a set of events or relations."""
    return MembersError(f"not supported: {what}; it would take sets whose members are known", *position)


def unsupported(what: str, takes: str, position: FilePosition) -> UnsupportedError:
    """The error for text that is right by the language but not supported here, with what supporting it would take."""
    takes = takes if takes.startswith("it would") else f"it would take {takes}"
    return UnsupportedError(f"not supported: {what}; {takes}", *position)


def error(message: str, position: FilePosition) -> InputError:
    """The error for a message and the position that it is about."""
    return InputError(message, *position)
