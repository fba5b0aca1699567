"""The .cat language: text to syntax trees.

    "a title, or a name"                      optional
    let com = rf | co | fr                    sets, relations
    let between(s) = po; [s]; po              functions
    let rec a = r | (b; a) and b = a | s      least fixpoints
    acyclic com as sc                         checks: acyclic, irreflexive, empty; ~empty for the negation
    flag ~empty race as data-race             reported, not required
    include "other.cat"                       beside this file, or a model that ships
    with co from partial-co                   a coherence order that leaves writes unordered (default: total-co)

Operators, tightest first: ``*`` between two operands (product); postfix ``^* ^+ ^? ^-1 * + ?``; ``~``; ``&``; ``\\``;
``;``; ``|``. A name may hold ``-`` and ``.``. ``[S]`` is the identity on a set, ``_`` the set of all events, ``0`` the
empty set or relation. Comments are ``(* *)`` and ``//``. What the names mean is in ``oracle.cat.interpreter``.

An inclusion means the statements of the file, as often as it is included; a file is read once. What would take a reader
or an evaluation beyond all bounds is refused: see the limits below.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from lark import Token, Tree

from corpus.errors import InputError
from corpus.files import read_text
from corpus.syntax import leaves, parse, subtrees

MOST_NESTED = 150
"""Operators within each other in one expression; a chain as ``a | b | c`` nests, too."""

MOST_STATEMENTS = 2_000
"""Definitions and checks of a model, its includes in place."""

MOST_INCLUDED = 50
"""Files that include each other in a chain."""

MOST_BYTES = 1 << 20
"""The size of a file."""


class Position(NamedTuple):
    """Where something stands in a file; lines and columns count from 1."""

    path: str
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Name:
    """A set, relation or function by its name."""

    name: str
    position: Position


@dataclass(frozen=True, slots=True)
class Constant:
    """``0`` or ``_``."""

    symbol: str
    position: Position


@dataclass(frozen=True, slots=True)
class Operation:
    """An operator applied. ``kind`` is one of ``OPERATORS``."""

    kind: str
    operands: tuple[Term, ...]
    position: Position


@dataclass(frozen=True, slots=True)
class Call:
    """A function applied."""

    name: str
    arguments: tuple[Term, ...]
    position: Position


Term = Name | Constant | Operation | Call

OPERATORS = (
    *("union", "compose", "difference", "intersection", "complement", "product", "identity"),
    *("plus", "star", "optional", "inverse"),
)


@dataclass(frozen=True, slots=True)
class Binding:
    """``name(parameters) = body``."""

    name: str
    parameters: tuple[str, ...]
    body: Term
    position: Position


@dataclass(frozen=True, slots=True)
class Definition:
    """``let``; with several bindings or ``recursive``, ``let rec .. and ..``."""

    bindings: tuple[Binding, ...]
    recursive: bool


@dataclass(frozen=True, slots=True)
class Check:
    """``acyclic|irreflexive|empty body as name``; ``flag``: an execution that fails... is only reported.

    A flag is raised where its check holds; any other check must hold.
    """

    kind: str
    body: Term
    name: str
    negated: bool
    flag: bool
    position: Position


@dataclass(frozen=True, slots=True)
class Linearisation:
    """``with name from linearisations(events, ..)``: each total order of a set is an execution of its own.

    That the order holds what it must is a check that follows.
    """

    name: str
    events: Term
    position: Position


Statement = Definition | Check | Linearisation


@dataclass(frozen=True, slots=True)
class Syntax:
    """A model as it is written, its includes in place.

    ``partial_co``: it asks for partial coherence orders. ``digest``: SHA-256, in hexadecimal, of its text's digest and
    those of what it includes, in their order; where the files lie is not part of it.
    """

    title: str
    statements: tuple[Statement, ...]
    partial_co: bool
    digest: str


_TERMINALS = {
    "NAME": "a name",
    "STRING": "a text in quotes",
    "CHECK": "acyclic or irreflexive or empty",
    "SUFFIX": "a postfix operator",
    "NEGATION": "~",
    "FLAG": "flag",
    "_LET": "let",
    "_REC": "rec",
    "_AND": "and",
    "_WITH": "with",
    "_FROM": "from",
    "_INCLUDE": "include",
    "_AS": "as",
    "BACKSLASH": "\\",
    "ZERO": "0",
    "__ANON_0": "0",
    "UNDERSCORE": "_",
}

_SUFFIXES = {
    "^*": "star",
    "*": "star",
    "^+": "plus",
    "+": "plus",
    "^?": "optional",
    "?": "optional",
    "^-1": "inverse",
}
_COHERENCE = {"partial-co": True, "total-co": False}
_MODELS = files("oracle").joinpath("models")


def shipped_models() -> Mapping[str, str]:
    """The path of every .cat file that ships, by its name without the suffix."""
    return {
        Path(item.name).stem: str(item)
        for item in sorted(_MODELS.iterdir(), key=lambda item: item.name)
        if item.name.endswith(".cat")
    }


def parse_cat(text: str, path: str) -> Syntax:
    """The model that ``text`` denotes; ``path`` is where it was read, for its includes and for errors.

    Raises ``InputError`` with line, column and what was expected.
    """
    return _Reader(path, (), {}).model(text)


@cache
def read_cat(path: str) -> Syntax:
    """The model in a file. Raises ``InputError`` where it or what it includes cannot be read or parsed."""
    return parse_cat(read_text(Path(path), MOST_BYTES), path)


class _Reader:
    """Reads one file. ``above``: the files that include it; ``known``: those that have been read for the same model."""

    def __init__(self, path: str, above: tuple[str, ...], known: dict[str, Syntax]) -> None:
        self._path = path
        self._known = known
        self._above = (*above, str(Path(path).resolve()))
        self._title = Path(path).stem
        self._partial = False
        self._included_digests: list[str] = []

    def model(self, text: str) -> Syntax:
        tree = parse("oracle.cat.cat", "model", text, self._path, _TERMINALS, bounded=False)
        statements: list[Statement] = []
        for item in subtrees(tree):
            statements += self._statement(item)
            if len(statements) > MOST_STATEMENTS:
                line, column = item.meta.line, item.meta.column
                raise InputError(f"more than {MOST_STATEMENTS} definitions and checks so far", self._path, line, column)
        digests = "".join([sha256(text.encode()).hexdigest(), *self._included_digests])
        return Syntax(self._title, tuple(statements), self._partial, sha256(digests.encode()).hexdigest())

    def _statement(self, tree: Tree[Token]) -> list[Statement]:
        match tree.data:
            case "title":
                self._title = leaves(tree)[0].strip('"')
                return []
            case "choice":
                return self._choice(tree)
            case "inclusion":
                return self._included(leaves(tree)[0])
            case "check":
                return [self._check(tree)]
            case _:
                bindings = tuple(map(self._binding, subtrees(tree)))
                names = [binding.name for binding in bindings]
                for binding in bindings:
                    if names.count(binding.name) > 1:
                        raise InputError(f"'{binding.name}' is defined twice at once", *binding.position)
                    if tree.data == "recursion" and binding.parameters:
                        raise InputError(
                            "expected a set or relation, for a function cannot be recursive", *binding.position
                        )
                return [Definition(bindings, tree.data == "recursion")]

    def _choice(self, tree: Tree[Token]) -> list[Statement]:
        (name,) = leaves(tree)
        (source,) = subtrees(tree)
        term = self._term(source)
        match term:
            case Name(coherence) if name == "co" and coherence in _COHERENCE:
                self._partial = _COHERENCE[coherence]
                return []
            case Call("linearisations", (events, within)):
                position = Position(self._path, name.line or 0, name.column or 0)
                pairs = Operation("intersection", (within, Operation("product", (events, events), position)), position)
                lost = Operation("difference", (pairs, Name(str(name), position)), position)
                contains = Check("empty", lost, f"{name}-is-a-linearisation", False, False, position)
                return [Linearisation(str(name), events, position), contains]
            case _:
                raise self._error("expected 'with co from partial-co' or 'with co from total-co'", name)

    def _included(self, token: Token) -> list[Statement]:
        name = token.strip('"')
        folders = (Path(self._path).parent, Path(str(_MODELS)))
        path = next((str(folder / name) for folder in folders if os.path.isfile(folder / name)), None)
        if path is None:
            raise self._error(f"cannot include {name}: no such file beside this one, and no model that ships", token)
        if str(Path(path).resolve()) in self._above:
            raise self._error(f"{name} includes itself", token)
        if len(self._above) > MOST_INCLUDED:
            raise self._error(f"more than {MOST_INCLUDED} files that include each other in a chain", token)
        if path not in self._known:
            self._known[path] = _Reader(path, self._above, self._known).model(read_text(Path(path), MOST_BYTES))
        syntax = self._known[path]
        self._partial = self._partial or syntax.partial_co
        self._included_digests.append(syntax.digest)
        return list(syntax.statements)

    def _check(self, tree: Tree[Token]) -> Check:
        tokens = leaves(tree)
        (kind,) = (token for token in tokens if token.type == "CHECK")
        names = [token for token in tokens if token.type in ("NAME", "STRING")]
        name = names[0].strip('"') if names else f"{kind} on line {kind.line}"
        (body,) = subtrees(tree)
        types = {token.type for token in tokens}
        position = Position(self._path, kind.line or 0, kind.column or 0)
        return Check(str(kind), self._term(body), name, "NEGATION" in types, "FLAG" in types, position)

    def _binding(self, tree: Tree[Token]) -> Binding:
        name, *parameters = leaves(tree)
        (body,) = subtrees(tree)
        position = Position(self._path, name.line or 0, name.column or 0)
        return Binding(str(name), tuple(map(str, parameters)), self._term(body), position)

    def _term(self, tree: Tree[Token], depth: int = 0) -> Term:
        position = Position(self._path, tree.meta.line, tree.meta.column)
        if depth > MOST_NESTED:
            raise InputError(f"more than {MOST_NESTED} operators within each other: name a part by let", *position)
        tokens = leaves(tree)
        parts = tuple(self._term(part, depth + 1) for part in subtrees(tree))
        match tree.data:
            case "name":
                return Name(str(tokens[0]), position)
            case "empty" | "everything":
                return Constant("0" if tree.data == "empty" else "_", position)
            case "call":
                return Call(str(tokens[0]), parts, position)
            case "suffixed":
                return Operation(_SUFFIXES[str(tokens[-1])], parts, position)
            case kind:
                return Operation(str(kind), parts, position)

    def _error(self, message: str, token: Token) -> InputError:
        return InputError(message, self._path, token.line, token.column)
