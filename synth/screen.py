"""Tables and progress bars."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

Item = TypeVar("Item")

_PERIOD = 3600.0
"""Seconds over which the time that is left is estimated: items such as hangs take longer than the usual 30."""


def table_console(width: int = 160) -> Console:
    """Standard output: as wide as the terminal, or ``width`` columns where it is none."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = width
    return console


def plain_table(*columns: str, title: str | None = None) -> Table:
    """A table without lines around it."""
    return Table(*columns, box=None, pad_edge=False, header_style="bold", title=title, title_justify="left")


def watched(items: Iterable[Item], total: int, doing: str) -> Iterator[Item]:
    """The items, with a progress bar on standard error where a person watches."""
    screen = Console(stderr=True)
    bar = Progress(console=screen, transient=True, disable=not screen.is_terminal, speed_estimate_period=_PERIOD)
    with bar:
        yield from bar.track(items, total, description=doing)
