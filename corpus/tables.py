"""Makes the parser tables that ``corpus.lalr`` runs, and explains syntax errors, by lark.

Making them takes lark a tenth of a second, so those of the grammars that ship are made before, in JSON:
``c.threads.json`` beside ``c.lark`` are those that start with its rule ``threads``. They name the checksum of the
grammar that they are of; where that has changed, they are made anew each time, until ``pytest --promote
tests/unit/test_tables.py`` writes them.

Assumption: lark is 1.3, whose inner parts these are.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any
from zlib import crc32

from lark import Lark
from lark.exceptions import UnexpectedCharacters, UnexpectedEOF, UnexpectedToken
from lark.grammar import Rule, Terminal
from lark.lexer import BasicLexer, PatternStr, UnlessCallback
from lark.parsers.lalr_analysis import Shift


@cache
def _lark(text: str, start: str) -> Any:
    return Lark(text, start=start, parser="lalr")


def make(text: str, start: str) -> dict[str, Any]:
    """Return the tables of a grammar in lark's language that starts with one of its rules; equal grammars give equal
    tables.

    ``rules``: of how many values a rule makes one, its name, that of the tree that it makes (none where a value stays
    what it is), which of the values are its children (all, where there is no list; ``~n`` stands for the children of
    the n-th, none for a place left empty), and whether one child alone takes its place. ``states``: what to do with the
    names of terminals and rules, to go to state n or to reduce by rule ``~n``; the first is the one to start with,
    ``end`` that to end in. ``scanners``: a pattern with a group for each terminal that may come in some states, and the
    words of it that are terminals of their own. ``ignored``: a pattern of what may stand between tokens.
    """
    parser = _lark(text, start).parser
    table, lexer_conf, lexers = parser.parser._parse_table, parser.lexer_conf, parser.lexer.lexers
    assert not lexer_conf.g_regex_flags
    # lark numbers states as its sets happen to be.
    order = [table.start_states[start]]
    for state in order:
        row = table.states[state]
        order += [to for _, to in _shifts(row) if to not in order]
    number = {state: index for index, state in enumerate(order)}
    actions = [action for row in table.states.values() for action in row.values()]
    rules = sorted({to for action, to in actions if action is not Shift}, key=_place)
    reductions = {rule: ~index for index, rule in enumerate(rules)}
    states: list[dict[str, str]] = []
    for state in order:
        names: dict[int, list[str]] = {}
        for name, (action, to) in sorted(table.states[state].items()):
            names.setdefault(number[to] if action is Shift else reductions[to], []).append(name)
        states.append({str(action): " ".join(words) for action, words in names.items()})
    scanners: list[Any] = []
    scanner_of = []
    for state in order:
        scanner = _scanner(lexers[state])
        if scanner not in scanners:
            scanners.append(scanner)
        scanner_of.append(scanners.index(scanner))
    ignored = [terminal for terminal in lexer_conf.terminals if terminal.name in lexer_conf.ignore]
    return {
        "checksum": crc32(text.encode()),
        "ignored": "|".join(terminal.pattern.to_regexp() for terminal in ignored),
        "end": number[table.end_states[start]],
        "rules": [_reduction(rule) for rule in rules],
        "scanners": scanners,
        "scanner of state": scanner_of,
        "states": states,
    }


def written(tables: Mapping[str, Any]) -> str:
    """Return tables as JSON, with a line for each rule, scanner and state."""
    parts = []
    for key, value in tables.items():
        whole = json.dumps(value)
        if isinstance(value, list) and not isinstance(value[0], int):
            whole = "[\n" + ",\n".join(map(json.dumps, value)) + "\n]"
        parts.append(f"{json.dumps(key)}: {whole}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def what_is_wrong(grammar: str, start: str, text: str) -> tuple[int, int, set[str], str]:
    """Return why a grammar does not read a text: line, column, the terminals that it expected, and what it found.

    A terminal that the grammar gives no name is what stands in the text.
    """
    lark = _lark(grammar, start)

    def spell_terminals(names: Iterable[str] | None) -> set[str]:
        known = {"<END-OF-FILE>": "$END"}  # another word of lark's for it
        known |= {terminal.name: terminal.pattern.value for terminal in lark.terminals if "__ANON_" in terminal.name}
        return {known.get(name, name) for name in names or ()}

    try:
        lark.parse(text)
    except UnexpectedCharacters as error:
        return error.line, error.column, spell_terminals(error.allowed), repr(text[error.pos_in_stream or 0])
    except (UnexpectedToken, UnexpectedEOF) as error:
        token = error.token if isinstance(error, UnexpectedToken) else None
        if token:
            return error.line, error.column, spell_terminals(error.expected), repr(str(token))
        # lark gives the place of the last token
        line, column = text.count("\n") + 1, len(text) - text.rfind("\n")
        return line, column, spell_terminals(error.expected), "the end of the file"
    raise AssertionError("lark parses what its tables do not")


def _shifts(row: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    return ((name, to) for name, (action, to) in sorted(row.items()) if action is Shift)


def _place(rule: Rule) -> tuple[str, int]:
    return rule.origin.name, rule.order


def _reduction(rule: Rule) -> list[Any]:
    """By what lark's tree builder does with the options of a rule."""
    options, symbols = rule.options, rule.expansion
    kept: list[int | None] = []
    places = iter(range(len(symbols)))
    for empty in options.empty_indices or (False,) * len(symbols):
        if empty:
            kept.append(None)
            continue
        index = next(places)
        symbol = symbols[index]
        if not isinstance(symbol, Terminal) and symbol.name.startswith("_"):
            kept.append(~index)
        elif not isinstance(symbol, Terminal) or not symbol.filter_out or options.keep_all_tokens:
            kept.append(index)
    single = bool(options.expand1 and not rule.alias)
    every = kept == list(range(len(symbols)))
    name = rule.alias or options.template_source or rule.origin.name
    return [
        len(symbols),
        rule.origin.name,
        None if single and every and len(symbols) == 1 else name,
        None if every else kept,
        single,
    ]


def _scanner(lexer: BasicLexer) -> list[Any]:
    """Finds the next token; and the words of a terminal that are terminals of their own."""
    kept = [terminal for terminal in lexer.scanner.terminals if terminal.name not in lexer.ignore_types]
    words = "|".join(f"(?P<{terminal.name}>{terminal.pattern.to_regexp()})" for terminal in kept)
    keywords: dict[str, dict[str, str]] = {}
    for name, callback in sorted(lexer.callback.items()):
        assert isinstance(callback, UnlessCallback)
        own = callback.scanner.terminals
        assert all(isinstance(terminal.pattern, PatternStr) and not terminal.pattern.flags for terminal in own)
        keywords[name] = {terminal.pattern.value: terminal.name for terminal in own}
    return [words, keywords]
