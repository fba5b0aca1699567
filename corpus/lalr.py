"""Texts parsed by the tables that lark makes of a grammar: the same trees and the same errors, several times as fast.

lark analyses a grammar once: into the tables of an LALR parser, a lexer for each state of it, which knows the terminals
that may come there, and a function for each rule that makes its tree. ``Grammar`` runs them in one loop, where lark
calls six functions a token. A text that is wrong is given to lark, which says where and what it expected.

Assumptions: no terminal begins with what the grammar ignores, and lark is 1.3, whose inner parts these are.
``tests/property/test_lalr.py`` holds this loop against lark's own for each grammar.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, cast

from lark import Lark, Token, Tree
from lark.grammar import Rule
from lark.lexer import BasicLexer, PatternStr, UnlessCallback
from lark.parse_tree_builder import ExpandSingleChild
from lark.parsers.lalr_analysis import Shift


class Leaf(Token):
    """A token that does not know where it ends."""

    __slots__ = ()
    end_line: int | None = None
    end_column: int | None = None
    end_pos: int | None = None


_Match = Callable[[str, int], re.Match[str] | None]
_Reduction = tuple[int, str, Callable[[list[Any]], Any] | None]
"""How many values become one, of which rule, and how; None: one that stays what it is."""


class Grammar:
    """A grammar in lark's language, and one of its rules to start with."""

    def __init__(self, text: str, start: str) -> None:
        self._lark = Lark(text, start=start, parser="lalr")
        parser: Any = self._lark.parser
        table = parser.parser._parse_table
        callbacks = parser.parser_conf.callbacks
        self._start: int = table.start_states[start]
        self._end: int = table.end_states[start]
        # What a state does with a terminal: it goes to another one, or it reduces. Where it goes with a rule.
        self._actions: dict[int, dict[str, int | _Reduction]] = {}
        self._goes: dict[int, dict[str, int]] = {}
        for state, row in table.states.items():
            self._actions[state] = {
                name: to if action is Shift else _reduction(to, callbacks[to]) for name, (action, to) in row.items()
            }
            self._goes[state] = {name: to for name, (action, to) in row.items() if action is Shift}
        ignored = [terminal for terminal in parser.lexer_conf.terminals if terminal.name in parser.lexer_conf.ignore]
        skipped = f"(?:{'|'.join(terminal.pattern.to_regexp() for terminal in ignored)})*+" if ignored else ""
        self._skip = re.compile(skipped).match
        lexers = parser.lexer.lexers
        made = {id(lexer): _scanner(lexer, skipped) for lexer in lexers.values()}
        self._scanners: dict[int, tuple[_Match, Mapping[str, Mapping[str, str]]]] = {
            state: made[id(lexer)] for state, lexer in lexers.items()
        }

    def parse(self, text: str) -> Tree[Token]:
        """The syntax tree, each with the line and column where it begins. Raises lark's ``UnexpectedInput``."""
        tree = self._parse(text)
        if tree is None:
            self._lark.parse(text)
            raise AssertionError("lark parses what its tables do not")
        return tree

    def _parse(self, text: str) -> Tree[Token] | None:
        """The syntax tree, None where there is an error."""
        actions, goes, scanners, new, last = self._actions, self._goes, self._scanners, str.__new__, self._end
        state = self._start
        states, values, firsts = [state], list[Any](), list[Token | None]()  # firsts: with which token a value begins
        at, line, line_start = 0, 1, -1
        while True:
            scan, keywords = scanners[state]
            match = scan(text, at)
            if match:
                kind = match.lastgroup or ""
                word = match[kind]
                end = match.end()
                begin = end - len(word)
                if begin != at:
                    lines = text.count("\n", at, begin)
                    if lines:
                        line += lines
                        line_start = text.rfind("\n", at, begin)
                token = new(Leaf, word)
                if kind in keywords:
                    kind = keywords[kind].get(word, kind)
                token.type = kind
                token.value = word
                token.start_pos = begin
                token.line = line
                token.column = begin - line_start
                if "\n" in word:
                    line += word.count("\n")
                    line_start = begin + word.rfind("\n")
                at = end
            else:
                skipped = self._skip(text, at)
                if not skipped or skipped.end() < len(text):
                    return None
                kind = "$END"
            action = actions[state].get(kind)
            while not isinstance(action, int):
                if action is None:
                    return None
                size, rule, make = action
                if make is None:  # one value for another
                    states.pop()
                else:
                    first: Any = None
                    if size == 1:
                        value = make([values.pop()])
                        first = firsts.pop()
                        states.pop()
                    elif size:
                        value = make(values[-size:])
                        first = firsts[-size] or next((one for one in firsts[-size:] if one is not None), None)
                        del states[-size:], values[-size:], firsts[-size:]
                    else:
                        value = make([])
                    if value.__class__ is Tree and value._meta is None:
                        value._meta = first
                    values.append(value)
                    firsts.append(first)
                state = goes[states[-1]][rule]
                if state == last and kind == "$END":
                    return cast("Tree[Token]", values[-1])
                states.append(state)
                action = actions[state].get(kind)
            state = action
            states.append(state)
            values.append(token)
            firsts.append(token)


def _reduction(rule: Rule, make: Callable[[list[Any]], Any]) -> _Reduction:
    alone = len(rule.expansion) == 1 and isinstance(make, ExpandSingleChild)
    return len(rule.expansion), rule.origin.name, None if alone else make


def _scanner(lexer: BasicLexer, skipped: str) -> tuple[_Match, Mapping[str, Mapping[str, str]]]:
    """Finds the next token; and the words of a terminal that are terminals of their own."""
    scanner = lexer.scanner
    kept = [terminal for terminal in scanner.terminals if terminal.name not in lexer.ignore_types]
    words = "|".join(f"(?P<{terminal.name}>{terminal.pattern.to_regexp()})" for terminal in kept)
    keywords: dict[str, dict[str, str]] = {}
    for name, callback in lexer.callback.items():
        assert isinstance(callback, UnlessCallback)
        assert all(
            isinstance(each.pattern, PatternStr) and not each.pattern.flags for each in callback.scanner.terminals
        )
        keywords[name] = {each.pattern.value: each.name for each in callback.scanner.terminals}
    return re.compile(f"{skipped}(?:{words})" if words else "(?!)", lexer.g_regex_flags).match, keywords
