"""Parses the test languages, and reports syntax errors as ``InputError``. Their lark grammars are package data."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from zlib import crc32

from corpus.errors import InputError
from corpus.files import folder_of
from corpus.lalr import Grammar, Token, Tree

BLANKS = " \t\f\r\n"
"""The text that may stand between the words of a test, by ``WS`` of lark."""

LARGEST_NUMBER = 2**31 - 1
"""Digests are made of 32-bit integers, and so are values on a device."""

LARGEST_LOCATION = 2**16 - 1
"""A state of a program is as large as its highest location."""

DEEPEST = 100
"""Levels of a syntax tree: a bracket, an operator or a block within another is one or two."""

_PUNCTUATION = {
    "AMPERSAND": "&",
    "AT": "@",
    "BANG": "!",
    "COLON": ":",
    "COMMA": ",",
    "EQUAL": "=",
    "LBRACE": "{",
    "LPAR": "(",
    "LSQB": "[",
    "MINUS": "-",
    "PLUS": "+",
    "RBRACE": "}",
    "RPAR": ")",
    "RSQB": "]",
    "SEMICOLON": ";",
    "STAR": "*",
    "TILDE": "~",
    "VBAR": "|",
    "$END": "the end of the file",
}
"""The text that a person reads for each name that lark gives to a sign."""


def grammar_text(grammar: str) -> str:
    """Return the text of a grammar, ``package.name``, or of several that are joined by `` + ``, one after the other."""
    names = [name.rpartition(".") for name in grammar.split(" + ")]
    return "\n".join((folder_of(folder) / f"{name}.lark").read_text("utf-8") for folder, _, name in names)


def tables_file(grammar: str, start: str) -> Path:
    """Return the path of the file with the tables of a grammar (``corpus.tables``) that starts with a rule."""
    folder, _, name = grammar.split(" + ")[-1].rpartition(".")
    return folder_of(folder) / f"{name}.{start}.json"


@cache
def grammar_of(grammar: str, start: str) -> Grammar:
    """Return a grammar, ``package.name`` or several that are joined by `` + ``, that starts with a rule: by the tables
    that are kept of it, or by new ones where these are of another text.
    """
    text, file = grammar_text(grammar), tables_file(grammar, start)
    tables = json.loads(file.read_text("utf-8")) if file.is_file() else {}
    if tables.get("checksum") != crc32(text.encode()):
        from corpus.tables import make  # lark is not imported where it is not needed

        tables = make(text, start)
    return Grammar(tables)


@lru_cache(maxsize=32)
def _tree(grammar: str, start: str, text: str) -> Tree | None:
    # Neighbours in a suite often have equal declarations and conditions, and reading costs more than judging.
    return grammar_of(grammar, start).parse(text)


@lru_cache(maxsize=32)
def _too_deep(grammar: str, start: str, text: str, chains: tuple[str, ...]) -> tuple[int, int] | None:
    """The line and column of the first tree below ``DEEPEST`` levels, where a rule of ``chains`` that goes on to the
    left is one level; None where there is none.
    """
    tree = _tree(grammar, start, text)
    assert tree is not None
    level, levels = [tree], 0
    while level and levels <= DEEPEST:
        level = [child for above in level for child in above.children if isinstance(child, Tree)]
        levels += 1
    if not level:  # nothing is, whatever chains are counted as
        return None
    below = [(tree, 0)]
    while below:
        tree, depth = below.pop()
        if depth > DEEPEST:
            return tree.line, tree.column
        for child in reversed(subtrees(tree)):
            goes_on = child is tree.children[0] and child.data == tree.data and child.data in chains
            below.append((child, depth + (not goes_on)))
    return None


def parse(
    grammar: str,
    start: str,
    text: str,
    path: str | None,
    terminals: Mapping[str, str],
    bounded: bool = True,
    chains: tuple[str, ...] = (),
) -> Tree:
    """Return the syntax tree of ``text`` by a grammar. The tree must not be changed, for it is kept.

    The grammar ``corpus.progress.axb`` is the file ``axb.lark`` beside the modules of ``corpus.progress``; one that
    extends another is read after it, ``oracle.cat.terms + oracle.cat.language``.

    ``terminals`` says how a terminal's name in the grammar reads to a person, signs apart. The tree has no more than
    ``DEEPEST`` levels, unless it need not be ``bounded``, for readers walk it by recursion. Where one of the rules
    ``chains`` goes on to the left, as ``a or b or c`` does, that is one level, to be walked by ``chain``. Raises
    ``InputError`` with line, column and what was expected.
    """
    tree = _tree(grammar, start, text)
    if tree is None:
        raise _syntax_error(grammar_text(grammar), start, text, path, terminals)
    deep = _too_deep(grammar, start, text, chains) if bounded else None
    if deep:
        raise InputError("expected code that is not nested as deeply", path, *deep)
    return tree


def subtrees(tree: Tree, kind: str | None = None) -> list[Tree]:
    """Return the children of a tree that are trees, all or of one rule."""
    return [child for child in tree.children if isinstance(child, Tree) and kind in (None, child.data)]


def chain(tree: Tree) -> list[Tree]:
    """Return the operands of an operator, ``a``, ``b`` and ``c`` of ``(a or b) or c``, where the tree goes on to the
    left.
    """
    found: list[Tree] = []
    left = tree
    while left.data == tree.data:
        left, *others = subtrees(left)
        found += reversed(others)
    return [left, *reversed(found)]


def leaves(tree: Tree, *kinds: str) -> list[Token]:
    """Return the children of a tree that are tokens, all or of some terminals."""
    return [child for child in tree.children if isinstance(child, Token) and (not kinds or child.type in kinds)]


def error_at(message: str, token: Token, path: str | None) -> InputError:
    """Return an error with a message, placed at a token."""
    return InputError(message, path, token.line, token.column)


def number(token: Token, path: str | None, largest: int = LARGEST_NUMBER) -> int:
    """Return the number that a token of decimal digits denotes. Raises ``InputError`` where it is above ``largest``, or
    not decimal, as what a grammar reads for values of C may be.
    """
    digits = token.lstrip("0") or "0"
    if not digits.isdecimal() or len(digits) > len(str(largest)) or int(digits) > largest:
        raise error_at(f"expected a number up to {largest}, found {token:.20}", token, path)
    return int(digits)


def wrapped(token: Token, path: str | None) -> int:
    """Return a decimal or hexadecimal literal as a 32-bit two's complement value: ``0x80000000`` is the smallest
    number.

    Raises ``InputError`` where it needs more than 32 bits.
    """
    digits = token.lstrip("+-")
    value = 1 << 32  # too large, as is what has more digits than int() takes
    if len(digits) <= 12:
        value = int(digits, 16 if digits.lower().startswith("0x") else 10) * (-1 if token.startswith("-") else 1)
    if not -(1 << 31) <= value < 1 << 32:
        raise error_at(f"expected a 32-bit number, found {token:.20}", token, path)
    return value - (1 << 32) if value >= 1 << 31 else value


def _syntax_error(grammar: str, start: str, text: str, path: str | None, terminals: Mapping[str, str]) -> InputError:
    from corpus.tables import what_is_wrong  # lark is not imported where it is not needed

    line, column, names, found = what_is_wrong(grammar, start, text)
    words = {terminals.get(name, _PUNCTUATION.get(name, name)) for name in names}
    wanted = " or ".join(sorted(word if word[0].isalpha() else f"'{word}'" for word in words))
    return InputError(f"expected {wanted}, found {found}", path, line, column)
