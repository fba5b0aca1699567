"""Splits a litmus test of any dialect into its sections, and checks it. The checks are those that all dialects
share.

The outer shape of a test is one for all dialects:

    LANGUAGE name
    "description, or lines of free text"
    { initial state }
    code, and what else the dialect declares
    locations [..] filter (..) exists (..)

A dialect (``corpus.dialects``) reads and prints the two middle sections. Comments, ``(* *)`` and
``//``, may stand anywhere and are not kept.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from corpus.errors import InputError
from corpus.lalr import Token, Tree
from corpus.litmus.condition import parse_condition, unknown_term
from corpus.litmus.describe import describe
from corpus.litmus.instructions import Branch, Instruction, Label, Load, Rmw, operands_of
from corpus.litmus.locations import Loc, Location, Region
from corpus.litmus.orders import Place, Scope
from corpus.litmus.propositions import FinalRegister, Term
from corpus.litmus.test import LitmusTest, located
from corpus.litmus.threads import Thread, has_clusters
from corpus.syntax import BLANKS, error_at, leaves, subtrees

_COMMENT = re.compile(r"\(\*.*?\*\)|//[^\n]*|\"[^\"\n]*\"", re.DOTALL)
# In C code, (*x) is no comment: there a line must begin with it.
_C_COMMENT = re.compile(r"^[ \t]*\(\*.*?\*\)|/\*.*?\*/|//[^\n]*|\"[^\"\n]*\"", re.DOTALL | re.MULTILINE)
_LANGUAGE = re.compile(r"(?:\s|\(\*.*?\*\)|/\*.*?\*/|//[^\n]*\n)*([A-Za-z_][A-Za-z0-9_]*)[ \t]", re.DOTALL)
_HEADER = re.compile(r"\s*(?P<language>[A-Za-z_][A-Za-z0-9_]*)[ \t]+\"?(?P<name>[^\s{\"]+)[^\n{]*")
_CONDITION = re.compile(r"^[ \t]*(?=(?:locations|filter|exists|forall|not[ \t]+exists|~[ \t]*exists)\b)", re.MULTILINE)
_QUOTED = re.compile(r'"[^"\n]*"')
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+@|,:/\[\]-]*")  # nothing that could end a comment in a made program


@dataclass(frozen=True, slots=True)
class Source:
    """The text of a litmus test in sections. Each section's text keeps its place: what comes before it is blanked, and
    what follows is cut.

    ``bell`` is the path of a bell file that LISA tests are to be read by.
    """

    path: str | None
    language: str
    name: str
    description: str
    state: str
    body: str
    condition: str
    bell: str | None = None

    def test(
        self,
        threads: Sequence[Thread],
        locations: Sequence[Location],
        synchronised: Sequence[tuple[int, int]] = (),
    ) -> LitmusTest:
        """Return the test of these parts, checked, with its condition read.

        Raises ``InputError`` where a location is declared twice, a branch has no label or two, shared memory is used
        across CTAs, or the condition names what the test does not have.
        """
        every = located(tuple(locations), tuple(threads))
        names = [location.name for location in every]
        if len(set(names)) < len(names):
            twice = min(name for name in names if names.count(name) > 1)
            raise self._error(twice, f"location {twice} is declared twice")
        for number, thread in enumerate(threads):
            self._check_labels(number, thread)
        self._check_regions(threads, every)

        def check(term: Term, token: Token) -> None:
            if isinstance(term, FinalRegister):
                ours = term.thread < len(threads) and term.register in threads[term.thread].names
            else:
                ours = isinstance(term, int) or term.name in names
            if not ours:
                raise unknown_term(term, token, self.path)

        condition = parse_condition(
            self.condition, self.path, check, lambda: (*_loaded(threads), *(Loc(name) for name in names))
        )
        return LitmusTest(self.name, tuple(threads), every, condition, self.description, tuple(synchronised))

    def _check_labels(self, number: int, thread: Thread) -> None:
        labels = [ins.name for ins in thread.instructions if isinstance(ins, Label)]
        for ins in thread.instructions:
            if isinstance(ins, Branch) and labels.count(ins.label) != 1:
                found = "no such label" if ins.label not in labels else "two of them"
                raise self._error(ins.label, f"expected one label {ins.label} in thread P{number}, found {found}")

    def _check_regions(self, threads: Sequence[Thread], locations: Sequence[Location]) -> None:
        kept = (Region.SHARED, Region.TENSOR)
        shared = {location.name: location.region for location in locations if location.region in kept}
        if not shared:
            return
        users: dict[str, tuple[int, Place]] = {}
        clusters = has_clusters(threads)
        for number, thread in enumerate(threads):
            values = [operand for ins in thread.instructions for operand in operands_of(ins)]
            for value in (*values, *(initial for _, initial in thread.registers)):
                if isinstance(value, Loc) and value.name in shared:
                    other, place = users.setdefault(value.name, (number, thread.place))
                    clustered = clusters and place.queue >= 0  # who is in none that is named is alone in its own
                    if not place.shares(thread.place, Scope.QUEUE if clustered else Scope.CTA):
                        group = "clusters" if clustered else "CTAs"
                        space = f"{shared[value.name]} memory"
                        message = f"{value.name} is in {space}, and P{other} and P{number} are in different {group}"
                        raise self._error(value.name, message)

    def _error(self, word: str, message: str) -> InputError:
        """An error about a name, which stands where the code, or else the initial state, first mentions it."""
        for text in (self.body, self.state):
            mention = re.search(rf"(?<![\w.]){re.escape(word)}(?![\w.])", text)
            if mention:
                return InputError(message, self.path, *place_in(text, mention.start()))
        return InputError(message, self.path)


def _loaded(threads: Sequence[Thread]) -> Iterator[Term]:
    """The registers that hold what a thread read."""
    for number, thread in enumerate(threads):
        targets = [ins.target for ins in thread.instructions if isinstance(ins, Load | Rmw) and ins.target]
        yield from (FinalRegister(number, name) for name in dict.fromkeys(targets))


def language(text: str, path: str | None = None) -> str:
    """Return the first word of a litmus test, which says its dialect. Raises ``InputError`` where there is none."""
    found = _LANGUAGE.match(text)
    if not found:
        raise _no_header(path)
    return found[1]


def sections(text: str, path: str | None = None, c_comments: bool = False) -> Source:
    """Return the sections of a litmus test, which every dialect has in this order.

    Raises ``InputError`` where a section is missing, or a control character stands anywhere but between lines.
    """
    control = _CONTROL.search(text)
    if control:
        raise InputError(f"expected text, found {control[0]!r}", path, *place_in(text, control.start()))
    text = _blanked(text, _C_COMMENT if c_comments else _COMMENT)
    header = _HEADER.match(text)
    if not header:
        raise _no_header(path)
    code = _QUOTED.sub(lambda quoted: " " * len(quoted[0]), text)
    opening = code.find("{", header.end())
    closing = _closing(code, opening)
    if opening < 0 or closing < 0:
        what = "{ and the initial state" if opening < 0 else "} after the initial state"
        raise InputError(f"expected {what}, found the end of the file", path, *place_in(text, len(text)))
    question = _CONDITION.search(code, closing)
    end = question.start() if question else len(text)
    if not _NAME.fullmatch(header["name"]):
        wanted = "a name of letters, digits and _.+@|,:/[]-"
        raise InputError(f"expected {wanted}, found {header['name']}", path, *place_in(text, header.start("name")))
    return Source(
        path,
        header["language"],
        header["name"],
        " ".join(text[header.end() : opening].replace('"', " ").split()),
        _blanked(_cut(text, opening, closing + 1), _COMMENT),
        _cut(text, closing + 1, end),
        _blanked(_cut(text, end, len(text)), _COMMENT),
    )


def columns(body: str) -> tuple[list[tuple[str, ...]], str]:
    """Return the cells of each thread's column, ``P0 | P1 ; r1 = x | ; ``, its head first, and the text after
    the rows.

    Raises ``InputError``, without its place, where there is no head, or a row has more or fewer cells.
    """
    *rows, rest = body.split(";")
    if not rows:
        raise InputError("expected the heads of the columns")
    try:
        table = list(zip(*([cell.strip(BLANKS) for cell in row.split("|")] for row in rows), strict=True))
    except ValueError:
        raise InputError("expected rows of equally many cells") from None
    return table, rest.strip(BLANKS)


def _closing(code: str, opening: int) -> int:
    """Where the brace that opens at a place closes, or -1; within there may be lists of values."""
    depth = 0
    for brace in re.finditer(r"[{}]", code[opening:] if opening >= 0 else ""):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return opening + brace.start()
    return -1


def _no_header(path: str | None) -> InputError:
    return InputError("expected a litmus test's first line, LANGUAGE and a name", path, 1, 1)


def _blanked(text: str, comment: re.Pattern[str]) -> str:
    """The text with spaces for comments; what is in quotes is none."""
    if "(*" not in text and "//" not in text and "/*" not in text:
        return text
    return comment.sub(lambda match: match[0] if match[0][0] == '"' else re.sub(r"[^\n]", " ", match[0]), text)


def _cut(text: str, start: int, end: int) -> str:
    line = text.rfind("\n", 0, start) + 1
    return "\n" * text.count("\n", 0, start) + " " * (start - line) + text[start:end]


def thread_columns(body: Tree, letter: str, path: str | None) -> list[list[Tree]]:
    """Return the cells of each thread's column, of a body with a ``header`` and a ``row`` for each line after it.

    Threads are called ``letter`` and a number, from 0 on. Raises ``InputError`` for another header, and for rows of
    more or fewer columns.
    """
    header, *rows = (tree for tree in subtrees(body) if tree.data in ("header", "row"))
    for index, thread in enumerate(leaves(header)):
        if thread[1:] != str(index):
            raise error_at(f"expected thread {letter}{index}, found {thread}", thread, path)
    columns: list[list[Tree]] = [[] for _ in leaves(header)]
    for row in rows:
        cells = subtrees(row)
        if len(cells) != len(columns):
            message = f"expected {len(columns)} columns, found {len(cells)}"
            raise InputError(message, path, row.line, row.column)
        for column, cell in zip(columns, cells, strict=True):
            column += subtrees(cell)
    return columns


def place_in(text: str, position: int) -> tuple[int, int]:
    """Return the line and the column of a position in a text."""
    return text.count("\n", 0, position) + 1, position - text.rfind("\n", 0, position)


@dataclass(frozen=True, slots=True)
class ForeignRunner:
    """A program outside the project that takes the files of a dialect, and what its own reader asks of them.

    ``rename``, for one that knows tests by their names, makes a name that it reads whole of a file's; ``prepare`` says
    a test in the runner's terms where they are narrower and the meaning stays; ``check`` raises ``InputError``
    that names what it does not read, of what the dialect can say.
    """

    name: str
    rename: Callable[[str], str] | None = None
    prepare: Callable[[LitmusTest], LitmusTest] = lambda test: test
    check: Callable[[LitmusTest], None] = lambda test: None


@dataclass(frozen=True, slots=True)
class Dialect:
    """A dialect of litmus tests: ``language`` is the first word of its files; it has a parser of sections and a
    printer.

    The printer raises ``InputError`` that names the instruction, the location or the thread it cannot say. Where
    ``c_comments`` is set, comments are those of C, and ``(*`` begins one at the start of a line only. ``companions``
    are names and texts of files that stand in a folder beside the tests. ``older`` is another first word of its files.
    ``synchronises``: it can say that threads synchronise by the system. ``atomic_types``: what is atomic is so by its
    type, so that all accesses of a location are atomic, or none is. ``opcodes``: its operations may be opcodes of PTX,
    as ``shr.u32``. ``asynchronous``: it has words for asynchronous operations and mbarriers. ``statement`` gives an
    instruction of a thread in the words of the dialect; where it is not stated, words close to PTX's serve.
    """

    name: str
    language: str
    parse: Callable[[Source], LitmusTest]
    print: Callable[[LitmusTest], str]
    c_comments: bool = False
    runners: tuple[ForeignRunner, ...] = ()
    companions: tuple[tuple[str, str], ...] = ()
    synchronises: bool = False
    atomic_types: bool = False
    opcodes: bool = False
    asynchronous: bool = False
    older: str | None = None
    statement: Callable[[LitmusTest, int, Instruction], str] = lambda test, thread, ins: describe(ins)
