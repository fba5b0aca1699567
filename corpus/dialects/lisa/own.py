"""A bell file of the user's own for LISA tests: what instructions may be annotated with, and the scopes' names.

    enum orders = 'once || 'acquire || 'release
    instructions R[{'once,'acquire}]
    default W['once]
    enum scopes = 'system || 'device || 'work-group

Tests are read by the bell file that a user names, or else, in a folder with one that is not ``synth.bell``, by that.
An annotation is a tag, and a set of the name with a capital in models that include the bell file: of ``r[once]``,
``Once``. Such an access is weak otherwise.
``instructions`` lists, in brackets, what each word of an annotation may be: a set of tags, or the name of an ``enum``;
``default`` says what an instruction without annotation has. Scopes are those that have a common name, as ``device``
and ``work-group``. Definitions and ``narrower`` and ``wider`` are for models (``oracle.cat.elaboration``).

Source: herdtools7, ``lib/BellCheck.ml``, ``lib/BellName.ml``. Gap: regions and levels of a bell file are not read.
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
from corpus.litmus.test import ANNOTATED, Mode, Scope
from corpus.syntax import error_at

OURS = "synth.bell"
"""What the bell file is called that is written beside tests."""

_COMMENT = re.compile(r"\(\*.*?\*\)|//[^\n]*|\"[^\"]*\"", re.DOTALL)
_TAG = r"'[A-Za-z][\w.-]*"
_ENUM = re.compile(rf"\benum\s+([\w.-]+)\s*=\s*((?:\|\|\s*)?{_TAG}(?:\s*\|\|\s*{_TAG})*)")
_DECLARED = re.compile(r"\b(instructions|default)\s+(\w+)\s*\[([^\]]*)\]")
_PART = re.compile(rf"\{{[^}}]*\}}|{_TAG}|[A-Za-z][\w.-]*")
_KINDS = ("R", "W", "F", "RMW", "B")
_MOST_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Bell:
    """A bell file. ``levels`` are its scopes; for each kind of instruction, what each annotation of a row may be."""

    name: str
    levels: Mapping[str, Scope] = field(default_factory=dict)
    rows: Mapping[str, Sequence[Sequence[frozenset[str]]]] = field(default_factory=dict)
    defaults: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def mode(self, kind: str, words: Sequence[Token], keyword: Token, path: str | None) -> Mode:
        """The mode of an instruction that is annotated so. Raises ``InputError`` where the file does not declare it."""
        said = tuple(map(str, words)) or self.defaults.get(kind, ())
        rows = self.rows.get(kind, ())
        if said and not any(
            len(row) == len(said) and all(word in part for word, part in zip(said, row, strict=True)) for row in rows
        ):
            where = words[0] if words else keyword
            raise error_at(f"{self.name} declares no instructions {kind}[{','.join(said)}]", where, path)
        return Mode(tags=tuple(sorted(f"{ANNOTATED}{word}" for word in said)))


def bell_beside(path: str | None) -> Bell | None:
    """The user's bell file in the folder of a test, None where there is none.

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
    """The bell file of that path. Raises ``InputError`` where there is none, or it is wrong."""
    return read_bell(read_text(Path(path), _MOST_BYTES), path)


def read_bell(text: str, path: str) -> Bell:
    """The declarations of a bell file. Raises ``InputError`` with line and column."""
    text = _COMMENT.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    enums = {found[1]: _tags(found[2]) for found in _ENUM.finditer(text)}
    rows: dict[str, list[list[frozenset[str]]]] = {}
    defaults: dict[str, tuple[str, ...]] = {}
    for found in _DECLARED.finditer(text):
        word, kind, body = found.groups()
        if kind not in _KINDS:
            raise _error(f"expected {', '.join(_KINDS)}, found {kind}", path, text, found.start(2))
        parts: list[frozenset[str]] = []
        for part in _PART.finditer(body):
            if part[0][0] not in "{'" and part[0] not in enums:
                raise _error(f"expected an enum, found {part[0]}", path, text, found.start(3) + part.start())
            parts.append(frozenset(_tags(part[0]) or enums.get(part[0], ())))
        if word == "default":
            if any(len(part) != 1 for part in parts):
                raise _error("expected one tag for each annotation of a default", path, text, found.start(3))
            defaults[kind] = tuple(next(iter(part)) for part in parts)
        rows.setdefault(kind, []).append(parts)
    unknown = [scope for scope in enums.get("scopes", ()) if scope not in WORDS]
    if unknown:
        known = ", ".join(sorted(WORDS))
        raise _error(f"expected scopes among {known}; found '{unknown[0]}", path, text, text.index(f"'{unknown[0]}"))
    return Bell(Path(path).name, {scope: WORDS[scope] for scope in enums.get("scopes", ())}, rows, defaults)


def _tags(text: str) -> tuple[str, ...]:
    return tuple(tag[1:] for tag in re.findall(_TAG, text))


def _error(message: str, path: str, text: str, at: int) -> InputError:
    return InputError(message, path, text.count("\n", 0, at) + 1, at - (text.rfind("\n", 0, at) + 1) + 1)
