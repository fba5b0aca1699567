"""The parser of the .cat language: from text to syntax trees.

    C "a title, or a name"                    optional, an architecture before it or not
    let com = rf | co | fr                    sets, relations
    let between(s) = po; [s]; po              functions; ``between(S)``, ``between S``
    let rec a = r | (b; a) and b = a | s      least fixpoints
    acyclic com as sc                         checks: acyclic, irreflexive, empty; ~empty for the negation
    flag ~empty race as data-race             reported, not required
    undefined_unless empty race as race       reported, not required
    include "other.cat"                       beside this file, or a model that ships, or a file of the library
    with co from partial-co                   a coherence order that leaves writes unordered (default: total-co)
    with co from generate_cos(r)              a total one that holds r
    with S from linearisations(E, r)          any total order of the events of E that holds r
    ?a: r | s                                 a hole of a sketch (``oracle.inference.sketch``)

Operators, tightest first: application; ``*`` between two operands (product); postfix ``^* ^+ ^? ^-1 * + ?``; ``~``;
``&``; ``\\``; ``;``; ``++`` (from the right); ``|``. A name may hold ``-`` and ``.``. ``[S]`` is the identity on a
set, ``_`` the set of all events, ``0`` the empty set or relation. Comments are ``(* (* *) *)``, ``/* */``, ``//`` and
``#``. ``oracle.cat.elaboration`` describes the rest of the language, such as ``let .. in``, ``try``, ``if``, ``match``,
procedures and tags; ``oracle.cat.interpreter`` says what names mean.

An inclusion means the statements of the file, as often as it is included; a file is read once. The library
(``oracle/cat/library``) has the files that models of herd and Dartagnan include, by their names, in our own text. A
model titled ``PTX``, without quotes, leaves writes unordered as it does in Dartagnan. A model that would take a reader
or an evaluation beyond all bounds is refused: see the limits here and in ``oracle.cat.terms``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Container, Mapping
from dataclasses import replace
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from corpus.errors import InputError
from corpus.files import folder_of, is_within, read_text
from corpus.lalr import Token, Tree
from corpus.syntax import leaves, parse, subtrees
from oracle.cat.stored import store, stored_file, stored_syntax
from oracle.cat.terms import ModelSyntax

if TYPE_CHECKING:
    from oracle.cat.meanings import NameScope

MOST_INCLUDED = 50
"""The limit of files that include each other in a chain."""

MOST_BYTES = 1 << 20
"""The limit of a file's size, in bytes."""

_TERMINALS = {
    "NAME": "a name",
    "STRING": "a text in quotes",
    "CHECK": "acyclic or irreflexive or empty",
    "NEGATED": "~ before a check",
    "SUFFIX": "a postfix operator",
    "TAG": "a tag",
    "HOLE": "a hole",
    "BACKSLASH": "\\",
    "UNDERSCORE": "_",
    "UNDEFINED": "undefined_unless",
    "REC": "rec",
    "ASSERT": "assert",
    "FLAG": "flag",
}
_KEYWORDS = ("let", "rec", "and", "with", "from", "include", "as", "show")
_KEYWORDS_BEYOND = (
    *("when", "in", "fun", "try", "if", "then", "else", "match", "begin", "end", "not", "variant", "subset", "unshow"),
    *("debug", "procedure", "call", "forall", "do", "enum", "instructions", "default", "assert", "catdep"),
)
_WORDS = {**_TERMINALS, **{f"_{word.upper()}": word for word in (*_KEYWORDS, *_KEYWORDS_BEYOND)}}
_BEYOND = re.compile(
    rf"\+\+|[{{}}']|\?\s*[A-Za-z][\w.-]*\s*:|\(\s*\)|let\s*(\(|[\w.-]+\s*,)|(?<![\w.-])({'|'.join(_KEYWORDS_BEYOND)})(?![\w.-])"
)
"""A pattern of text that only the grammar of the whole language can parse."""

_TERMS = "oracle.cat.terms"
_LANGUAGE = f"{_TERMS} + oracle.cat.language"

_MODELS = folder_of("oracle") / "models"
_LIBRARY = folder_of("oracle.cat") / "library"

_SHIPPED = (_MODELS, folder_of("oracle.cat"))
"""Folders of .cat files that do not change while a command runs."""

_NO_TEXT = re.compile(r'"[^"\n]*"|//[^\n]*|\#[^\n]*|/\*.*?\*/|\(\*|\*\)', re.DOTALL)


def shipped_models() -> Mapping[str, str]:
    """The path of every .cat file that ships, by its name without the suffix."""
    return {path.stem: str(path) for path in sorted(_MODELS.glob("*.cat"))}


def ships(path: str) -> bool:
    """Whether a file is one of the models that ship, or is included by them."""
    return Path(path).resolve().is_relative_to(_MODELS.resolve())


def parse_cat(text: str, path: str, bell: str | None = None) -> ModelSyntax:
    """The syntax of the model that ``text`` denotes; ``path`` is where it was read, for its includes and for errors.

    ``bell`` is a bell file, whose definitions come before the model's. Raises ``InputError`` with line, column and what
    was expected.
    """
    return read_afresh(text, path, bell)[0]


def read_afresh(text: str, path: str, bell: str | None = None) -> tuple[ModelSyntax, ModelFiles]:
    """The syntax of the model that ``text`` denotes, and the files that it was read from.

    Arguments and errors are those of ``parse_cat``.
    """
    from oracle.cat.elaboration import Elaboration  # most models have been read before, and are stored

    files = ModelFiles({path: text})
    elaboration = Elaboration(Path(path).stem, files.included)
    elaboration.read(files.tree(path), path, (files.tree(bell), bell) if bell else None)
    made = tuple(elaboration.statements)
    digest = files.digest(path, *([bell] if bell else []))
    how = elaboration.partial, elaboration.one_event
    return ModelSyntax(elaboration.title, made, *how, digest, elaboration.over_members), files


def read_cat(path: str, bell: str | None = None) -> ModelSyntax:
    """The syntax of the model in a file, as the file is now.

    ``bell`` is a bell file, whose definitions come before the model's; models that ship need none. Raises
    ``InputError`` where the file or one that it includes cannot be read or parsed.
    """
    return _read_shipped(path) if Path(path).parent in _SHIPPED else _read(path, bell)


def _read(path: str, bell: str | None = None) -> ModelSyntax:
    text = read_text(Path(path), MOST_BYTES)
    first = [path, bell] if bell else [path]
    kept = stored_file(path, text, bell)
    syntax = stored_syntax(kept, first, _included) if kept else None
    if syntax is None:
        syntax, files = read_afresh(text, path, bell)
        if kept:
            store(kept, first, syntax, files.texts, files.inclusions)
    return syntax


_read_shipped = cache(_read)


class ModelFiles:
    """The files of a model, each read once. ``texts``: those that have been read, by their paths.

    ``inclusions``: the file that a name leads to, None where there is none, by the including file and the name.
    """

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.texts = dict(texts)
        self.inclusions: dict[tuple[str, str], str | None] = {}
        self._trees: dict[str, Tree] = {}
        self._digests: dict[str, str] = {}
        self._blank: dict[str, bool] = {}

    def tree(self, path: str) -> Tree:
        """The syntax tree of a file. Raises ``InputError`` where it cannot be read."""
        if path not in self._trees:
            if path not in self.texts:
                self.texts[path] = read_text(Path(path), MOST_BYTES)
            self._trees[path] = _tree(_without_comments(self.texts[path]), path)
        return self._trees[path]

    def included(self, token: Token, scope: NameScope) -> tuple[Tree, NameScope]:
        """The syntax tree of an included file, and its scope; the tree has no statement where the file has none."""
        path = self._found(str(token), scope.path)
        name = token.strip('"')
        if path is None:
            message = f"cannot include {name}: no such file beside this one, in the library, or among models that ship"
            raise InputError(message, scope.path, token.line, token.column)
        resolved = str(Path(path).resolve())
        if resolved in scope.above:
            raise InputError(f"{name} includes itself", scope.path, token.line, token.column)
        if len(scope.above) > MOST_INCLUDED:
            message = f"more than {MOST_INCLUDED} files that include each other in a chain"
            raise InputError(message, scope.path, token.line, token.column)
        tree = Tree("model", []) if self._is_blank(path, len(scope.above)) else self.tree(path)
        return tree, replace(scope, path=path, above=(*scope.above, resolved))

    def _is_blank(self, path: str, depth: int) -> bool:
        """Whether a file has nothing but inclusions of such files, be they as many as they are."""
        if path not in self._blank:
            self._blank[path] = False  # during the search, for a file may include itself
            inner = [self._found(str(token), path) for token in _inclusions(self.tree(path))]
            only = all(item.data in ("title", "long_title", "inclusion") for item in subtrees(self.tree(path)))
            self._blank[path] = (
                only and depth <= MOST_INCLUDED and all(other and self._is_blank(other, depth + 1) for other in inner)
            )
        return self._blank[path]

    def digest(self, path: str, *more: str) -> str:
        """SHA-256, in hexadecimal, of a text's digest and those of what it includes, in their order, and of more."""
        if more:
            return sha256("".join(map(self.digest, (path, *more))).encode()).hexdigest()
        if path not in self._digests:
            parts = [sha256(self.texts[path].encode()).hexdigest()]
            self._digests[path] = ""  # a file that includes itself in a branch that is not taken
            for token in _inclusions(self.tree(path)):
                other = self._found(str(token), path)
                if other in self._trees:
                    parts.append(self.digest(other))
            self._digests[path] = sha256("".join(parts).encode()).hexdigest()
        return self._digests[path]

    def _found(self, name: str, beside: str) -> str | None:
        if (beside, name) not in self.inclusions:
            self.inclusions[beside, name] = _included(name, beside, self.texts)
        return self.inclusions[beside, name]


def _included(name: str, beside: str | None, texts: Container[str] = ()) -> str | None:
    """The file that is included by a name, in quotes: one beside, of those that ship, or of the library; none that a
    name or a link leads to out of these folders."""
    folders = (Path(beside).parent if beside else _LIBRARY, _MODELS, _LIBRARY)
    paths = [(folder / name.strip('"'), folder) for folder in folders]
    there = (str(path) for path, folder in paths if is_within(path, folder) or is_within(path, _MODELS))
    return next((path for path in there if os.path.isfile(path) or (path in texts and path != beside)), None)


def _tree(text: str, path: str) -> Tree:
    # The tables of the whole language take longer to make than a model of terms to judge a test.
    return parse(_LANGUAGE if _BEYOND.search(text) else _TERMS, "model", text, path, _WORDS, bounded=False)


def _inclusions(tree: Tree) -> list[Token]:
    """The inclusions of a file, in any branch, in the order of its text."""
    found: list[Token] = []
    waiting = [tree]
    while waiting:
        item = waiting.pop()
        if item.data == "inclusion":
            found += leaves(item)
        elif item.data in ("model", "alternative", "branch", "procedure", "iteration", "selection", "case"):
            waiting += reversed(subtrees(item))
    return found


def _without_comments(text: str) -> str:
    """The text with blanks for comments. One ``(*`` within another is a comment of its own where both have an end."""
    kept: list[str] = []
    end = 0
    for found in _NO_TEXT.finditer(text):
        start, token = found.start(), found.group()
        if start < end or token[0] == '"' or token == "*)":
            continue
        after = _end_of_comment(text, start) if token == "(*" else found.end()
        if after:
            kept += [text[end:start], re.sub(r"[^\n]", " ", text[start:after])]
            end = after
    return "".join([*kept, text[end:]])


def _end_of_comment(text: str, start: int) -> int:
    """Where a comment ends; 0 where it does not."""
    depth = 0
    for found in re.finditer(r"\(\*|\*\)", text[start:]):
        depth += 1 if found.group() == "(*" else -1
        if depth == 0:
            return start + found.end()
    return text.find("*)", start) + 2 if "*)" in text[start:] else 0
