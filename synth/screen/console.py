"""The output of commands on a terminal or as a document: tables and text.

A command prints on what ``screen`` gives: a terminal, or a document where ``--format`` asks for one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, groupby, islice
from typing import Any, TypeGuard

import click
from rich.console import Console, ConsoleOptions, ConsoleRenderable, RenderHook, RenderResult
from rich.measure import Measurement
from rich.segment import Segment, Segments
from rich.table import Column, Table
from rich.text import Text

from corpus.errors import printable
from synth.options.form import printed_as
from synth.screen.narrow import parts_that_fit, words_of
from synth.tables import LANGUAGES, TABLE, Language
from synth.tables import Table as Written


class Document:
    """The output of a command as a document: tables in its language, and the text between them, line by line.

    It has those methods of rich's consoles that commands need.
    """

    def __init__(self, language: Language) -> None:
        self._language = language
        self._begun = False

    def print(self, what: str | Text | Table | None = None, markup: bool = True, **_: Any) -> None:
        """Print a text line by line, or a table; other arguments of rich's consoles are ignored."""
        if isinstance(what, Table):
            self.print_table(what)
        elif what is not None:
            text = Text.from_markup(what) if isinstance(what, str) and markup else what
            for line in str(text).splitlines():
                if line.strip():
                    self._print([self._language.line(line)])

    def print_table(self, table: Table | Listing, title: str = "") -> None:
        """Print a table under its own title, or under another."""
        self._print(self._language.table(_written(table, title)))

    def _print(self, lines: Iterable[str]) -> None:
        rest = chain([""] if self._begun else self._language.begin, lines)
        self._begun = True
        while piece := list(islice(rest, _PIECE)):
            click.echo("\n".join(piece))


def _written(table: Table | Listing, title: str) -> Written:
    if isinstance(table, Listing):
        return Written(title, "", _heads(table.table), _Rows(table.rows))
    cells = [[words_of(cell) for cell in column.cells] for column in table.columns]
    own = words_of(table.title) if table.title else ""
    note = words_of(table.caption) if table.caption else ""
    return Written(title or own, note, _heads(table), tuple(zip(*cells, strict=True)))


def _heads(table: Table) -> tuple[str, ...]:
    return tuple(words_of(column.header) if table.show_header else "" for column in table.columns)


@dataclass(frozen=True, slots=True)
class _Rows:
    """The rows of a listing, which can be gone over several times."""

    rows: Callable[[], Iterable[tuple[Cell, ...]]]

    def __iter__(self) -> Iterator[tuple[str, ...]]:
        return (tuple(cell if isinstance(cell, str) else cell[0] for cell in row) for row in self.rows())


Screen = Console | Document
"""A place where commands print: a console of rich's, or a document."""


def screen(width: int = 160) -> Screen:
    """Return the screen for standard output: ``table_console``, or a document where ``--format`` asks for one.

    Within one command it is always one document.
    """
    form = printed_as()
    if form == TABLE:
        return table_console(width)
    document: Document = click.get_current_context().meta.setdefault(f"synth.{form}", Document(LANGUAGES[form]))
    return document


def print_table(on: Screen, table: Table | Listing, title: str = "") -> None:
    """Print a table on a screen, under a title if there is one."""
    if isinstance(on, Document):
        on.print_table(table, title)
        return
    if title:
        on.print(title, style="italic")
    if isinstance(table, Listing):
        table.print_on(on)
    else:
        on.print(table)


def table_console(width: int = 160) -> Console:
    """Return a console on standard output: as wide as the terminal, or ``width`` columns where it is none.

    Names with control characters are shown on a terminal, which does not obey them.
    """
    console = Console(highlight=False)
    console.push_render_hook(_Tame(console))
    if not console.is_terminal:
        console.width = width
    return console


def printable_lines(text: str) -> str:
    """Return the text with every control character escaped that a terminal would obey, except line ends."""
    return "\n".join(map(printable, text.split("\n")))


@dataclass(frozen=True, slots=True)
class _Tame(RenderHook):
    """A hook of rich that escapes each character of a text that would steer the terminal, and makes tables fit."""

    console: Console

    def process_renderables(self, renderables: list[ConsoleRenderable]) -> list[ConsoleRenderable]:
        return [_Tamed(part) for renderable in renderables for part in self._parts(renderable)]

    def _parts(self, renderable: ConsoleRenderable) -> Iterable[ConsoleRenderable]:
        if not isinstance(renderable, Table):
            return [renderable]
        return [part.table for part in parts_that_fit(renderable, self.console)]


@dataclass(frozen=True, slots=True)
class _Tamed:
    inner: ConsoleRenderable

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for text, style, control in console.render(self.inner, options):
            yield Segment(text if control else printable_lines(text), style, control)


def plain_table(*columns: str, title: str | None = None) -> Table:
    """Return an empty table without lines around its cells, with these columns and a title."""
    return Table(*columns, box=None, pad_edge=False, header_style="bold", title=title, title_justify="left")


Cell = str | tuple[str, str]
"""A cell of a ``Listing`` row: words, or words and their style."""

_Line = list[Segment]

_PIECE = 1000
"""The number of lines, or of pieces of JSON, that are printed at once."""


@dataclass(frozen=True, slots=True)
class Listing:
    """A plain table with a row for each of very many tests; it prints what rich prints if columns have room.

    ``table`` has the columns and no rows yet; ``rows`` yields them, and is called twice: for the widths, then to print.
    Rich lays out a cell in a tenth of a millisecond and keeps all cells. A listing prints rows as they come, and lays
    out only once the cells that different tests share behind their names.
    """

    table: Table
    rows: Callable[[], Iterable[tuple[Cell, ...]]]

    def print_on(self, console: Console) -> None:
        """Print the listing on a console, row by row as the rows come."""
        columns = [_Column(column, console) for column in self.table.columns]
        measured: set[tuple[Cell, ...]] = set()
        for first, *others in self.rows():
            columns[0].widen(first)
            if (rest := tuple(others)) not in measured:
                measured.add(rest)
                for column, cell in zip(columns[1:], rest, strict=True):
                    column.widen(cell)
        self.table.add_row(*(column.width for column in columns))  # rich measures the columns and prints the heads
        for part, chosen in parts_that_fit(self.table, console):
            _print_lines(console, console.render_lines(part, pad=False)[:-1])
            laid_out = [replace(columns[number], column=own) for number, own in zip(chosen, part.columns, strict=True)]
            lines = self._lines(laid_out, chosen[1:])
            while piece := list(islice(lines, _PIECE)):
                _print_lines(console, piece)

    def _lines(self, columns: Sequence[_Column], chosen: Sequence[int]) -> Iterator[_Line]:
        first, *others = columns
        laid: dict[tuple[Cell, ...], list[_Line]] = {}
        for row in self.rows():
            name, rest = row[0], tuple(row[number] for number in chosen)
            if rest not in laid:
                laid[rest] = _beside([column.lay(cell) for column, cell in zip(others, rest, strict=True)])
            yield from _beside([first.lay(name), *([laid[rest]] if rest else ())])


@dataclass(slots=True)
class _Width:
    """A cell that asks for as much room as the cells of a column do, and is told how much it has."""

    least: int = 0
    most: int = 0
    given: int = 0

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement(self.least, self.most)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        self.given = options.max_width
        yield Text()


@dataclass(frozen=True, slots=True)
class _Column:
    """A column of a ``Listing``, and its width."""

    column: Column
    console: Console
    width: _Width = field(default_factory=_Width)

    def widen(self, cell: Cell) -> None:
        """Widen the column, if need be, to the width of one more cell."""
        if _is_word(cell):
            least = most = len(cell)
        else:
            least, most = Measurement.get(self.console, self.console.options, _text(cell))
        self.width.least = max(self.width.least, least)
        self.width.most = max(self.width.most, most)

    def lay(self, cell: Cell) -> list[_Line]:
        """Return the lines of a cell, each as wide as the column."""
        width, column = self.width.given, self.column
        if _is_word(cell) and len(cell) <= width and column.justify == "left":
            return [[Segment(f"{cell:{width}}")]]
        options = self.console.options.update(
            width=width, justify=column.justify, no_wrap=column.no_wrap, overflow=column.overflow, height=None
        )
        return self.console.render_lines(_text(cell), options)


def _is_word(cell: Cell) -> TypeGuard[str]:
    """Return whether a cell is as wide as it is long, and in one piece: names of tests are, and no two are equal."""
    return isinstance(cell, str) and cell.isascii() and cell.isprintable() and " " not in cell


def _text(cell: Cell) -> Text:
    return Text(cell) if isinstance(cell, str) else Text(*cell)


def _beside(cells: Sequence[list[_Line]]) -> list[_Line]:
    """Return the lines of cells side by side, as a plain table has them."""
    rows = []
    for number in range(max(map(len, cells), default=0)):
        row: _Line = []
        for cell in cells:
            blank = Segment(" " * Segment.get_line_length(cell[0]))
            row += [*([Segment("  ")] if row else ()), *(cell[number] if number < len(cell) else [blank])]
        rows.append(list(_merged(row)))
    return rows


def _merged(pieces: Iterable[Segment]) -> Iterator[Segment]:
    """Yield the text of the pieces; text without a style is in as few pieces as possible, for each costs time."""
    for styled, group in groupby(pieces, _has_style):
        if styled:
            yield from group
        else:
            yield Segment("".join(piece.text for piece in group))


def _has_style(piece: Segment) -> bool:
    return bool(piece.style)


def _print_lines(console: Console, lines: Iterable[_Line]) -> None:
    pieces = (piece for line in lines for piece in (*line, Segment.line()))
    console.print(Segments(list(_merged(pieces))), soft_wrap=True, end="")


def print_json(value: object) -> None:
    """Print JSON for people a piece at a time, since the text for hundreds of thousands of tests is long."""
    pieces = json.JSONEncoder(indent=2).iterencode(value)
    while text := "".join(islice(pieces, _PIECE)):
        click.echo(text, nl=False)
    click.echo()
