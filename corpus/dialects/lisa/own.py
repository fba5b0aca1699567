"""Reads a user's bell file for LISA tests. It declares the annotations of instructions and the names of scopes.

    enum orders = 'once || 'acquire || 'release
    let plain = {'once}
    instructions R[orders \\ {'release}]
    instructions W[plain | {'release}]
    default W['once]
    enum scopes = 'system || 'device || 'work-group

Tests are read by the bell file that a user names, or else, in a folder with one that is not ``synth.bell``, by that.
An annotation is a tag, and a set of the name with a capital in models that the file is named with or that include it:
of ``r[once]``, ``Once``. Such an access is weak otherwise.
``instructions`` lists, in brackets, what each word of an annotation may be: a set of tags, be it made of others by
operators or by functions that the file defines. An instruction that the file lists has such an annotation, or what
``default`` says for one without; any other has none. Scopes are those that have a common name, as ``device`` and
``work-group``. What else the file defines is for models (``oracle.cat.elaboration``).

Source: herdtools7, ``lib/BellCheck.ml``, ``lib/BellModel.ml``, ``lib/modelParser.mly``. Gap: regions and levels of a
bell file are not read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from corpus.dialects.scope_tree import WORDS
from corpus.errors import InputError
from corpus.files import read_text
from corpus.lalr import Token
from corpus.litmus.orders import ANNOTATED, Mode, Scope
from corpus.syntax import error_at

OURS = "synth.bell"
"""The name of the bell file that is written beside our tests."""

MOST_BYTES = 1 << 20
"""The largest size of a bell file, in bytes."""

_COMMENT = re.compile(r"\(\*.*?\*\)|//[^\n]*|#[^\n]*|\"[^\"]*\"", re.DOTALL)
_WORD = re.compile(r"'?[A-Za-z_][\w.-]*|\|\||\+\+|->|\S")
_NAME = re.compile(r"[A-Za-z_][\w.-]*")
_KINDS = ("R", "W", "F", "RMW", "B")
_MOST_DEEP = 50


@dataclass(frozen=True, slots=True)
class Bell:
    """A bell file: ``levels`` are its scopes, and for each kind of instruction there is what each annotation of a row
    may be.
    """

    name: str
    levels: Mapping[str, Scope] = field(default_factory=dict)
    rows: Mapping[str, Sequence[Sequence[frozenset[str]]]] = field(default_factory=dict)
    defaults: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def mode(self, kind: str, words: Sequence[Token], keyword: Token, path: str | None) -> Mode:
        """Return the mode of an instruction that is annotated so. Raises ``InputError`` where the file does not declare
        it.
        """
        tags = tuple(map(str, words)) or self.defaults.get(kind, ())
        rows = self.rows.get(kind, ())
        if (tags or rows) and not any(
            len(row) == len(tags) and all(word in part for word, part in zip(tags, row, strict=True)) for row in rows
        ):
            where = words[0] if words else keyword
            raise error_at(f"{self.name} declares no instructions {kind}[{','.join(tags)}]", where, path)
        return Mode(tags=tuple(sorted(f"{ANNOTATED}{word}" for word in tags)))


def bell_beside(path: str | None) -> Bell | None:
    """Return the user's bell file in the folder of a test, or None where there is none.

    Raises ``InputError`` where there are two, or it is wrong.
    """
    if path is None:
        return None
    folder = Path(path).parent
    try:
        changed = folder.stat().st_mtime_ns
    except (OSError, ValueError):
        return None
    return _bell_of(str(folder), changed)


@lru_cache(maxsize=8)
def _bell_of(folder: str, changed: int) -> Bell | None:
    found = sorted(file for file in Path(folder).glob("*.bell") if file.name != OURS)
    if len(found) > 1:
        names = " and ".join(file.name for file in found[:2])
        raise InputError(f"expected one bell file beside tests, found {names}", folder)
    return bell_at(str(found[0])) if found else None


@lru_cache(maxsize=8)
def bell_at(path: str) -> Bell:
    """Return the bell file at a path. Raises ``InputError`` where there is none, or it is wrong."""
    return read_bell(read_text(Path(path), MOST_BYTES), path)


def read_bell(text: str, path: str) -> Bell:
    """Return the declarations of a bell file. Raises ``InputError`` with line and column."""
    return _Reader(text, path).bell()


Set = frozenset[str]


@dataclass(frozen=True, slots=True)
class _Function:
    """What a name is defined as: an expression, from a word of the file on; nothing is looked at until it is needed."""

    parameters: Sequence[str]
    body: int


class _Reader:
    """A bell file as a row of words. What is not a declaration of instructions, scopes or tags is passed over."""

    def __init__(self, text: str, path: str) -> None:
        self._text = _COMMENT.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
        self._path = path
        self._words = list(_WORD.finditer(self._text))
        self._place = 0
        self._sets: dict[str, Set] = {}
        self._functions: dict[str, _Function] = {}

    def bell(self) -> Bell:
        """Return the declarations of the whole bell file."""
        rows: dict[str, list[list[Set]]] = {}
        defaults: dict[str, tuple[str, ...]] = {}
        levels: dict[str, Scope] = {}
        while self._place < len(self._words):
            match self._next():
                case "enum":
                    name, tags = self._enumeration()
                    self._functions.pop(name, None)
                    self._sets[name] = Set(tags)
                    if name == "scopes":
                        levels = {tag: self._level(tag, place) for tag, place in tags.items()}
                case "let":
                    self._definition()
                case "instructions" | "default" as word:
                    kind, row = self._declaration(word)
                    rows.setdefault(kind, []).append(row)
                    if word == "default":
                        defaults[kind] = tuple(next(iter(part)) for part in row)
        return Bell(Path(self._path).name, levels, rows, defaults)

    # Statements

    def _enumeration(self) -> tuple[str, dict[str, int]]:
        """The name and the tags, with where they stand."""
        name = self._name()
        self._take("=")
        self._taken("||")
        tags: dict[str, int] = {}
        while not tags or self._taken("||"):
            if self._word[:1] != "'":
                raise self._error("expected a tag")
            tags[self._word[1:]] = self._place
            self._place += 1
        return name, tags

    def _level(self, tag: str, place: int) -> Scope:
        if tag not in WORDS:
            raise self._error(f"expected scopes among {', '.join(sorted(WORDS))}; found '{tag}", place)
        return WORDS[tag]

    def _definition(self) -> None:
        self._taken("rec")
        if not _NAME.fullmatch(self._word):
            return
        name, parameters = self._name(), list[str]()
        if self._taken("("):
            while not self._taken(")"):
                parameters.append(self._name())
                self._taken(",")
        elif self._word != "=":
            parameters.append(self._name())
        if self._taken("="):
            self._sets.pop(name, None)
            self._functions[name] = _Function(parameters, self._place)

    def _declaration(self, word: str) -> tuple[str, list[Set]]:
        kind = self._next()
        if kind not in _KINDS:
            raise self._error(f"expected {', '.join(_KINDS)}, found {kind}", self._place - 1)
        self._take("[")
        start, row = self._place, list[Set]()
        while not self._taken("]"):
            row.append(self._union({}, 0))
            if self._word != "]":
                self._take(",")
        if word == "default" and any(len(part) != 1 for part in row):
            raise self._error("expected one tag for each annotation of a default", start)
        return kind, row

    # Sets of tags

    def _union(self, given: Mapping[str, Set], depth: int) -> Set:
        if depth > _MOST_DEEP:
            raise self._error(f"more than {_MOST_DEEP} functions and brackets within each other")
        found = self._difference(given, depth)
        while self._taken("|") or self._taken("++"):
            found |= self._difference(given, depth)
        return found

    def _difference(self, given: Mapping[str, Set], depth: int) -> Set:
        found = self._meet(given, depth)
        while self._taken("\\"):
            found -= self._meet(given, depth)
        return found

    def _meet(self, given: Mapping[str, Set], depth: int) -> Set:
        found = self._part(given, depth)
        while self._taken("&"):
            found &= self._part(given, depth)
        return found

    def _part(self, given: Mapping[str, Set], depth: int) -> Set:
        start, word = self._place, self._next()
        if word[0] == "'":
            return Set([word[1:]])
        if word in "({":
            close = ")" if word == "(" else "}"
            found = Set() if self._word == close and word == "{" else self._union(given, depth + 1)
            while word == "{" and self._taken(","):
                found |= self._union(given, depth + 1)
            self._take(close)
            return found
        if word == "match":
            return self._matched(given, depth)
        if word in given or word in self._sets:
            return given[word] if word in given else self._sets[word]
        if word not in self._functions:
            raise self._error(f"expected an enum, found {word}", start)
        function = self._functions[word]
        arguments = self._arguments(given, depth) if function.parameters else []
        if len(arguments) != len(function.parameters):
            raise self._error(f"{word} takes {len(function.parameters)} arguments, found {len(arguments)}", start)
        after, self._place = self._place, function.body
        found = self._union(dict(zip(function.parameters, arguments, strict=True)), depth + 1)
        self._place = after
        return found

    def _arguments(self, given: Mapping[str, Set], depth: int) -> list[Set]:
        if not self._taken("("):
            return [self._part(given, depth + 1)]
        found = [self._union(given, depth + 1)]
        while self._taken(","):
            found.append(self._union(given, depth + 1))
        self._take(")")
        return found

    def _matched(self, given: Mapping[str, Set], depth: int) -> Set:
        start = self._place
        value = self._union(given, depth + 1)
        self._take("with")
        self._taken("||")
        found: Set | None = None
        while True:
            label = self._next()
            self._take("->")
            before = self._place
            if found is None and (label == "_" or Set([label[1:]]) == value):
                found = self._union(given, depth + 1)
            self._place = before
            while self._word not in ("||", "end"):
                self._place += 1
                if self._place == len(self._words):
                    raise self._error("expected end")
            if self._next() == "end":
                break
        if found is None:
            raise self._error("no case for this tag", start)
        return found

    # Words

    @property
    def _word(self) -> str:
        return self._words[self._place][0] if self._place < len(self._words) else ""

    def _next(self) -> str:
        word = self._word
        if not word:
            raise self._error("expected more, found the end of the file")
        self._place += 1
        return word

    def _name(self) -> str:
        if not _NAME.fullmatch(self._word):
            raise self._error(f"expected a name, found {self._word or 'the end of the file'}")
        return self._next()

    def _taken(self, word: str) -> bool:
        """Whether the next word is that; then it is passed."""
        found = self._word == word
        self._place += found
        return found

    def _take(self, word: str) -> None:
        if self._word != word:
            raise self._error(f"expected '{word}', found {self._word or 'the end of the file'}")
        self._place += 1

    def _error(self, message: str, place: int | None = None) -> InputError:
        number = self._place if place is None else place
        start = self._words[number].start() if number < len(self._words) else len(self._text)
        line = self._text.count("\n", 0, start) + 1
        return InputError(message, self._path, line, start - (self._text.rfind("\n", 0, start) + 1) + 1)
