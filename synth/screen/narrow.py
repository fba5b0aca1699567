"""Tables on narrow screens: columns that have no room beside one another stand in tables below one another.

test     sc  tso         each part has the names of the rows, which are whole
SB       F   A           a head has several lines rather than a column that is wider than its cells
MP       F   F
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from rich.console import Console
from rich.measure import Measurement
from rich.table import Column, Table
from rich.text import Text

_PIECES = re.compile(r"[^-_ \n]+[-_]*|[-_]+")
"""The pieces of a head between which a line may end."""


class _Widths(NamedTuple):
    """The widths that a column asks for: the least with which its cells are whole, with which they are in one line, and
    with which its head is, too.
    """

    least: int
    cells: int
    head: int


class TablePart(NamedTuple):
    """A part of a table, and the numbers of its columns."""

    table: Table
    columns: tuple[int, ...]


def parts_that_fit(table: Table, console: Console) -> Iterator[TablePart]:
    """Yield a table as parts that are as wide as a console or narrower; the table itself where it is.

    Each part has the first column. Words that are wider than the console are folded.
    """
    widths = [_measured(column, console, table.show_header) for column in table.columns]
    gap, edge = _room(table)
    if not widths or edge + sum(width.head for width in widths) + gap * (len(widths) - 1) <= console.width:
        yield TablePart(table, tuple(range(len(widths))))
        return
    names, *others = widths
    room = console.width - edge
    first = min(names.head, room // 2) if others else room
    left = room - first - gap
    groups: list[list[int]] = [[]]
    used = 0
    for number, other in enumerate(others, 1):
        least = min(other.least, left)
        if groups[-1] and used + gap + least > left:
            groups.append([])
            used = 0
        used += least + gap * bool(groups[-1])
        groups[-1].append(number)
    for place, group in enumerate(groups):
        given = _shared([widths[number] for number in group], left - gap * (len(group) - 1))
        part = _part(table, [(0, first), *zip(group, given, strict=True)])
        part.title = table.title if place == 0 else None
        part.caption = table.caption if place == len(groups) - 1 else None
        yield TablePart(part, (0, *group))


def _measured(column: Column, console: Console, headed: bool) -> _Widths:
    options = console.options.update(width=10_000)
    every = [Measurement.get(console, options, cell) for cell in column.cells]
    cells = max((measured.maximum for measured in every), default=0)
    least = cells if column.no_wrap else max((measured.minimum for measured in every), default=0)
    if not headed:
        return _Widths(least, cells, cells)
    words = words_of(column.header)
    lines = max(map(len, words.split("\n")))
    pieces = max(map(len, _PIECES.findall(words)), default=0)
    return _Widths(max(least, pieces), max(cells, pieces), max(cells, lines))


def words_of(cell: object) -> str:
    """Return the text of a cell or head without its style."""
    return str(Text.from_markup(cell)) if isinstance(cell, str) else str(cell)


def _room(table: Table) -> tuple[int, int]:
    """Return how much room there is between columns, and at the edges of a table."""
    _, right, _, left = table.padding
    gap = left + right + bool(table.box)
    return gap, (left + right) * table.pad_edge + 2 * bool(table.box and table.show_edge)


def _shared(widths: Sequence[_Widths], room: int) -> list[int]:
    """Return a width for each column of a part: the least, and more as far as there is room, for cells before heads."""
    given = [min(width.least, room) for width in widths]
    for wanted in ([width.cells for width in widths], [width.head for width in widths]):
        for number in sorted(range(len(widths)), key=lambda number: wanted[number] - given[number]):
            given[number] += max(0, min(wanted[number] - given[number], room - sum(given)))
    return given


def _part(table: Table, chosen: Sequence[tuple[int, int]]) -> Table:
    """Return the columns of a table with these numbers and widths as a table."""
    part = copy.copy(table)
    part.columns = []
    for place, (number, width) in enumerate(chosen):
        column = table.columns[number]
        head = Text(_broken(words_of(column.header), width))
        part.columns.append(replace(column, header=head, width=width, overflow="fold", no_wrap=False, _index=place))
    return part


def _broken(head: str, width: int) -> str:
    """Return a head in lines of no more than a width, as far as its pieces allow."""
    found: list[str] = []
    for line in head.split("\n"):
        found.append("")
        for piece in re.findall(_PIECES.pattern + "| +", line):
            if found[-1].strip() and len(found[-1]) + len(piece) > width:
                found.append("")
            found[-1] += piece if found[-1] else piece.lstrip()
    return "\n".join(line.rstrip() for line in found)
