"""Parses and prints AXB programs as pseudo-code. The parser and the printer are inverse of each other.

    THREAD 0
    0: if (Exch(Mem[0],1) == 1) goto 0;
    1: Mem[0] = 0;
    THREAD 1
    0: if (Mem[0] == 0) goto END;

A thread may be placed in groups of the execution hierarchy, ``THREAD 1 @ workgroup 0, subgroup 1``. Each level has one
of the words of ``corpus.hierarchy``; what is not said is group 0, and a thread of whose subgroup nothing is said is in
one of its own. The printer says workgroup and subgroup of every thread, and levels above them where there are two
groups. Of a program either all threads are placed or none.

``Mem[l] = v;`` is the store ``AXB(l, 0, next, true, v)``. ``//`` starts a comment. The printer always gives one
text for a program; ``parse_axb(print_axb(p)) == p`` for every program whose numbers are within the limits of
``corpus.syntax``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from corpus.errors import InputError
from corpus.files import read_text
from corpus.hierarchy import LEVEL_WORDS, HierarchyLevel, Places, apart
from corpus.lalr import Token, Tree
from corpus.progress.axb import Instruction, Program, Thread
from corpus.syntax import LARGEST_LOCATION, number, parse

if TYPE_CHECKING:
    from corpus.test import Test

PLACED_LEVELS = tuple(HierarchyLevel)[:-1]
"""The levels in whose groups threads are placed, outermost first."""

ALWAYS_SAID = PLACED_LEVELS[2:]
"""The levels that are printed for every placed thread."""

_BLOCKS = re.compile(r"^(?=THREAD\b)", re.MULTILINE)
_NOTHING = re.compile(r"\s*(//.*)?$")

# How the grammar's terminals read to a person.
_TERMINALS = {
    "INT": "a number",
    "LEVEL": "workgroup or subgroup",
    "END": "END",
    "THREAD": "THREAD",
    "IF": "if",
    "GOTO": "goto",
    "EXCH": "Exch",
    "MEM": "Mem",
}


def print_instruction(ins: Instruction, pc: int, length: int) -> str:
    """Return one instruction as pseudo-code, without its label; ``length`` is the number of instructions of its
    thread.
    """
    cell = f"Mem[{ins.location}]"
    if ins.is_store(pc):
        return f"{cell} = {ins.exchange};"
    read = cell if ins.exchange is None else f"Exch({cell},{ins.exchange})"
    return f"if ({read} == {ins.check}) goto {'END' if ins.jump == length else ins.jump};"


def print_axb(program: Program) -> str:
    """Return the pseudo-code of a program, one instruction a line, with a newline at the end."""
    return "".join(f"{print_head(program, tid)}\n{_print_thread(thread)}" for tid, thread in enumerate(program.threads))


def print_head(program: Program, tid: int) -> str:
    """Return the line above the instructions of a thread: its number, and its place where the program has places."""
    return f"THREAD {tid}{place_text(program.places, tid)}"


def place_text(places: Places, tid: int) -> str:
    """Return the place of a thread as it is written behind its number; empty where there are no places."""
    if not places:
        return ""
    words = [
        f"{level.word} {places[tid][level.value - 1]}"
        for level in PLACED_LEVELS
        if level in ALWAYS_SAID or any(place[level.value - 1] for place in places)
    ]
    return f" @ {', '.join(words)}"


@lru_cache(maxsize=1 << 12)  # the threads of a suite's programs are few and come again and again
def _print_thread(thread: Thread) -> str:
    return "".join(f"{pc}: {print_instruction(ins, pc, len(thread))}\n" for pc, ins in enumerate(thread))


def parse_axb(text: str, path: str | None = None) -> Program:
    """Return the program that ``text`` denotes.

    Raises ``InputError`` with line, column and what was expected; ``path`` is only named in it.
    """
    before, *blocks = _BLOCKS.split(text)
    if blocks and not before:
        with suppress(InputError):  # the whole text is then parsed again, to say where it is wrong
            parsed = [_parse_block(tid, block) for tid, block in enumerate(blocks)]
            if all(thread for thread, _ in parsed):
                return _program([thread for thread, _ in parsed], [place for _, place in parsed], path)
    tree = _parse(text, path)
    found = [_thread(tid, _tree(thread), path) for tid, thread in enumerate(tree.children)]
    return _program([thread for thread, _ in found], [place for _, place in found], path)


_Place = dict[HierarchyLevel, int]
"""The groups of a thread, as far as they are said."""


def _program(threads: Sequence[Thread], given: Sequence[_Place], path: str | None) -> Program:
    if not any(given):
        return Program(tuple(threads))
    if not all(given):
        missing = next(tid for tid, place in enumerate(given) if not place)
        raise InputError(
            f"thread {missing} has no place, while others have; expected THREAD {missing} @ workgroup 0", path
        )
    outer = [tuple(place.get(level, 0) for level in PLACED_LEVELS[:-1]) for place in given]
    inner = [place.get(HierarchyLevel.SUBGROUP, -1) for place in given]
    places: list[tuple[int, ...]] = []
    for around, own in zip(outer, inner, strict=True):
        if own < 0:  # in a subgroup of its own: the first that nobody else in the workgroup is in, or will be
            taken = [*zip(outer, inner, strict=True), *((place[:-1], place[-1]) for place in places)]
            own = 1 + max(other for beside, other in taken if beside == around)
        places.append((*around, own))
    return Program(tuple(threads), () if tuple(places) == apart(len(threads)) else tuple(places))


def _parse(text: str, path: str | None) -> Tree:
    return parse("corpus.progress.axb", "program", text, path, _TERMINALS)


@lru_cache(maxsize=1 << 12)  # neighbours in a suite have threads in common
def _parse_block(tid: int, block: str) -> tuple[Thread, _Place]:
    """A thread with an instruction a line, as most are written, and its place; no thread where it is not so."""
    head, *lines = (line for line in block.split("\n") if not _NOTHING.match(line))
    number, _, place = head.partition("@")
    if number.rstrip() != f"THREAD {tid}":
        return (), {}
    found = [_parse_line(pc, len(lines), line) for pc, line in enumerate(lines)]
    return (tuple(ins for ins in found if ins) if all(found) else ()), _parse_place(place) if "@" in head else {}


@lru_cache(maxsize=1 << 10)  # a suite has few places
def _parse_place(text: str) -> _Place:
    tree = _tree(_parse(f"THREAD 0 @{text}\n0: Mem[0] = 0;", None).children[0])
    return _thread(0, tree, None)[1]


@lru_cache(maxsize=1 << 12)  # a suite has few different lines, and parsing is slow
def _parse_line(pc: int, length: int, line: str) -> Instruction | None:
    """The instruction in a line; none where it holds more, or nothing."""
    threads = _parse(f"THREAD 0\n{line}", None).children
    _, *instructions = _tree(threads[0]).children
    return _line(pc, length, _tree(instructions[0]), None) if len(threads) == len(instructions) == 1 else None


def read_axb(path: Path) -> Program:
    """Return the program in a file. Raises ``InputError`` where the file is missing, is not text, or does not parse."""
    return parse_axb(read_text(path), str(path))


def _token(item: object) -> Token:
    assert isinstance(item, Token)
    return item


def _tree(item: object) -> Tree:
    assert isinstance(item, Tree)
    return item


def _labelled(item: object, expected: int, what: str, path: str | None) -> None:
    token = _token(item)
    if number(token, path) != expected:
        raise InputError(f"expected {what} {expected}, found {token}", path, token.line, token.column)


def _thread(tid: int, tree: Tree, path: str | None) -> tuple[Thread, _Place]:
    label, *rest = tree.children
    _labelled(label, tid, "THREAD", path)
    groups = [tree for tree in map(_tree, rest) if tree.data == "group"]
    lines = [tree for tree in map(_tree, rest) if tree.data == "line"]
    place: _Place = {}
    for group in groups:
        word, numbered = map(_token, group.children)
        level = LEVEL_WORDS.get(word)
        if level is None or level not in PLACED_LEVELS:
            known = ", ".join(level.word for level in PLACED_LEVELS)
            raise InputError(f"no level of groups: {word}; expected {known}", path, word.line, word.column)
        if level in place:
            raise InputError(f"the {level.word} is said twice", path, word.line, word.column)
        place[level] = number(numbered, path)
    return tuple(_line(pc, len(lines), line, path) for pc, line in enumerate(lines)), place


def _line(pc: int, length: int, tree: Tree, path: str | None) -> Instruction:
    def value(item: object) -> int:
        return number(_token(item), path)

    def location(item: object) -> int:
        return number(_token(_tree(item).children[0]), path, LARGEST_LOCATION)

    label, item = tree.children
    _labelled(label, pc, "instruction", path)
    body = _tree(item)
    if body.data == "store":
        cell, stored = body.children
        return Instruction(location(cell), 0, pc + 1, value(stored))
    read, check, target = body.children
    cell, *exchanged = _tree(read).children
    goal = _token(_tree(target).children[0])
    jump = length if goal.type == "END" else value(goal)
    if jump > length:
        raise InputError(f"jump out of range: expected END or 0..{length}, found {goal}", path, goal.line, goal.column)
    exchange = value(exchanged[0]) if exchanged else None
    return Instruction(location(cell), value(check), jump, exchange)


def program_of(test: Test) -> Program:
    """Return the program of a progress test. Raises ``InputError`` where its text is not AXB pseudo-code."""
    return parse_axb(test.text, test.name)
