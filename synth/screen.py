"""Tables and progress bars."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from rich.console import Console, ConsoleOptions, ConsoleRenderable, RenderHook, RenderResult
from rich.segment import Segment
from rich.table import Table

from corpus.errors import printable

Item = TypeVar("Item")

_PERIOD = 3600.0
"""Seconds over which the time that is left is estimated: items such as hangs take longer than the usual 30."""


def table_console(width: int = 160) -> Console:
    """Standard output: as wide as the terminal, or ``width`` columns where it is none.

    Whatever names are in what it prints, a terminal is shown them and does not obey them.
    """
    console = Console(highlight=False)
    console.push_render_hook(_Tame())
    if not console.is_terminal:
        console.width = width
    return console


def printable_lines(text: str) -> str:
    """The text with everything escaped that a terminal would obey and not print, but the ends of lines."""
    return "\n".join(map(printable, text.split("\n")))


class _Tame(RenderHook):
    """Lets through no character of a text that would steer the terminal."""

    def process_renderables(self, renderables: list[ConsoleRenderable]) -> list[ConsoleRenderable]:
        return [_Tamed(renderable) for renderable in renderables]


@dataclass(frozen=True, slots=True)
class _Tamed:
    inner: ConsoleRenderable

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for text, style, control in console.render(self.inner, options):
            yield Segment(text if control else printable_lines(text), style, control)


def plain_table(*columns: str, title: str | None = None) -> Table:
    """A table without lines around it."""
    return Table(*columns, box=None, pad_edge=False, header_style="bold", title=title, title_justify="left")


def watched(items: Iterable[Item], total: int, doing: str) -> Iterator[Item]:
    """The items, with a progress bar on standard error where a person watches."""
    from rich.progress import Progress  # takes its time to be loaded

    screen = Console(stderr=True)
    bar = Progress(console=screen, transient=True, disable=not screen.is_terminal, speed_estimate_period=_PERIOD)
    with bar:
        yield from bar.track(items, total, description=doing)
