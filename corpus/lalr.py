"""Parses texts by the tables of a grammar, without lark and several times as fast. The trees are those that
lark makes.

``corpus.tables`` has lark make the tables of an LALR parser; those of the grammars that ship are files beside them.
``Grammar`` runs them in one loop, where lark calls six functions a token. What it expected where a text is wrong is
for lark to say.

Assumption: no terminal begins with what the grammar ignores. ``tests/property/test_lalr.py`` holds this loop against
lark's own for each grammar.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Self, cast


class Token(str):
    """A word of a text: the terminal of the grammar that it is, and the place where it stands."""

    __slots__ = ("column", "line", "type")
    type: str
    line: int
    column: int

    def __new__(cls, word: str, kind: str, line: int = 0, column: int = 0) -> Self:
        """A word that stands nowhere, unless it is said where."""
        token = super().__new__(cls, word)
        token.type, token.line, token.column = kind, line, column
        return token

    def with_word(self, word: str) -> Token:
        """Return a token of another word with the kind and place of this one."""
        return Token(word, self.type, self.line, self.column)


class Tree:
    """A part of a text that a rule of a grammar read: the rule's name, or another that it gives, and the children.

    ``first`` is the token with which it begins, though it be no child; None where it has none.
    """

    __slots__ = ("children", "data", "first")

    def __init__(self, data: str, children: list[Branch], first: Token | None = None) -> None:
        self.data = data
        self.children = children
        self.first = first

    @property
    def line(self) -> int:
        """The line where the tree begins; 0 where it has no token."""
        return self.first.line if self.first else 0

    @property
    def column(self) -> int:
        """The column where the tree begins; 0 where it has no token."""
        return self.first.column if self.first else 0

    def trees(self) -> Iterator[Tree]:
        """Return the tree itself and all trees below it, each before those below it, from left to right."""
        left = [self]
        while left:
            tree = left.pop()
            yield tree
            left += [child for child in reversed(tree.children) if isinstance(child, Tree)]

    def tokens(self) -> Iterator[Token]:
        """Return the tokens that are left in the tree, from left to right."""
        left: list[Branch] = [self]
        while left:
            branch = left.pop()
            if isinstance(branch, Tree):
                left += reversed(branch.children)
            elif branch is not None:  # of what is in [..] in the grammar, and not there
                yield branch


Branch = Tree | Token

_Match = Callable[[str, int], re.Match[str] | None]
_Keywords = Mapping[str, Mapping[str, str]]
_Reduction = tuple[int, str, str | None, Sequence[int | None] | None, bool]


class Grammar:
    """A grammar that starts with one of its rules, as tables; ``corpus.tables.make`` describes them."""

    def __init__(self, tables: Mapping[str, Any]) -> None:
        reductions: list[_Reduction] = [tuple(rule) for rule in tables["rules"]]
        # What a state does with a terminal: it goes to another one, or it reduces. Where it goes with a rule.
        self._rows: list[dict[str, int | _Reduction]] = [dict(_row(row, reductions)) for row in tables["states"]]
        self._end: int = tables["end"]
        self._patterns: list[tuple[str, _Keywords]] = [(pattern, words) for pattern, words in tables["scanners"]]
        self._scanner_of: list[int] = tables["scanner of state"]
        self._scanners: list[tuple[_Match, _Keywords] | None] = [None] * len(self._rows)
        self._skipped = f"(?>(?:{tables['ignored']})*)" if tables["ignored"] else ""
        self._skip = re.compile(self._skipped).match

    def _scanner(self, state: int) -> tuple[_Match, _Keywords]:
        """Finds the next token; and the words of a terminal that are terminals of their own."""
        words, keywords = self._patterns[self._scanner_of[state]]
        match = re.compile(f"{self._skipped}(?:{words})" if words else "(?!)").match
        self._scanners[state] = match, keywords
        return match, keywords

    def parse(self, text: str) -> Tree | None:
        """Return the syntax tree of a text, or None where there is an error."""
        rows, scanners, new, last = self._rows, self._scanners, str.__new__, self._end
        state = 0
        states, values, firsts = [state], list[Any](), list[Token | None]()  # firsts: with which token a value begins
        place, line, line_start = 0, 1, -1
        while True:
            scan, keywords = scanners[state] or self._scanner(state)
            match = scan(text, place)
            if match:
                kind = match.lastgroup or ""
                word = match[kind]
                end = match.end()
                begin = end - len(word)
                if begin != place:
                    lines = text.count("\n", place, begin)
                    if lines:
                        line += lines
                        line_start = text.rfind("\n", place, begin)
                token = new(Token, word)
                if kind in keywords:
                    kind = keywords[kind].get(word, kind)
                token.type = kind
                token.line = line
                token.column = begin - line_start
                if "\n" in word:
                    line += word.count("\n")
                    line_start = begin + word.rfind("\n")
                place = end
            else:
                skipped = self._skip(text, place)
                if not skipped or skipped.end() < len(text):
                    return None
                kind = "$END"
            action = rows[state].get(kind)
            while not isinstance(action, int):
                if action is None:
                    return None
                size, rule, name, kept, single = action
                if name is None:  # one value for another
                    states.pop()
                else:
                    first: Token | None = None
                    children: list[Any] = []
                    if size:
                        children = values[-size:]
                        first = firsts[-size] or next((one for one in firsts[-size:] if one is not None), None)
                        del states[-size:], values[-size:], firsts[-size:]
                    if kept is not None:
                        taken, children = children, []
                        for index in kept:
                            if index is None:
                                children.append(None)
                            elif index < 0:  # of a tree that is dropped, so that its list may go on
                                more = taken[~index].children
                                children = children + more if children else more
                            else:
                                children.append(taken[index])
                    value: Any
                    if single and len(children) == 1:
                        (value,) = children
                        if value.__class__ is Tree and value.first is None:
                            value.first = first
                    else:
                        value = Tree(name, children, first)
                    values.append(value)
                    firsts.append(first)
                state = cast("int", rows[states[-1]][rule])
                if state == last and kind == "$END":
                    return cast("Tree", values[-1])
                states.append(state)
                action = rows[state].get(kind)
            state = action
            states.append(state)
            values.append(token)
            firsts.append(token)


def _row(row: Mapping[str, str], reductions: Sequence[_Reduction]) -> Iterator[tuple[str, int | _Reduction]]:
    for action, names in row.items():
        number = int(action)
        to = number if number >= 0 else reductions[~number]
        for name in names.split():
            yield name, to
