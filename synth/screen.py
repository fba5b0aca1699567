"""Tables and progress bars, and what of a text a terminal may see."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TypeVar

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

Item = TypeVar("Item")

_PERIOD = 3600.0
"""Seconds over which the time that is left is estimated: items such as hangs take longer than the usual 30."""

# Control characters of ASCII and Latin-1 (escape sequences begin with one), what turns the direction of writing, and
# halves of pairs, which are no characters. Line feeds and tabs only lay out.
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str) -> str:
    """The text with every character escaped, as in ``\\x1b``, that would steer a terminal and not show on it."""
    return _UNSAFE.sub(lambda match: match[0].encode("unicode_escape").decode("ascii"), text)


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
