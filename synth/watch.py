"""The progress of long work on a terminal, with silence elsewhere.

A bar says what is done, how much of it, and how long the rest may take; lines below it say what is waited for now, as
a compiler, a device or a question (``corpus.awaited``), here and in the processes that work for this one.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:  # slow to import, and rarely needed
    from rich.console import RenderableType

Item = TypeVar("Item")


class Watch(Protocol):
    """What is told how many units of work are done, how many there are (None: not known yet), and how many tests are
    found.
    """

    def __call__(self, done: int, planned: int | None, tests: int = 0, /) -> None:
        """Show these numbers."""


PAUSE = 0.1
"""The seconds between two pictures of the bar, which cost more than a small test."""

_PERIOD = 3600.0
"""The seconds over which the time left is estimated: a unit of a synthesis takes longer than the usual 30."""

_WIDTH = 24
"""The columns of the bar itself, which leave room for the words beside it on a screen of 80."""

_SHOWN = 2
"""As many processes are shown, each in a line."""

_bars: list[_Bar] = []
"""The bars that are shown, the innermost last."""


@contextmanager
def watching(doing: str = "", found: bool = True) -> Iterator[Watch]:
    """Yield a function to report to; a bar shows the last report, with the time left where the total is known.

    ``doing`` stands before the bar. Without ``found``, the bar shows no number of tests.
    """
    if not is_watched():
        yield _unwatched
        return
    bar = _Bar(doing, found)
    _bars.append(bar)
    try:
        yield bar
    finally:
        bar.erase()
        _bars.remove(bar)


def watched(items: Iterable[Item], total: int | None, doing: str) -> Iterator[Item]:
    """Yield the items, with a bar where a person watches."""
    with watching(doing, found=False) as watch:
        watch(0, total)
        for done, item in enumerate(items, 1):
            yield item
            watch(done, total)


def is_watched() -> bool:
    """Return whether a person sees standard error, and has asked for no JSON; each bar is shown if so."""
    from synth.options.form import asks_json

    return sys.stderr.isatty() and os.environ.get("TERM", "dumb") not in ("dumb", "unknown") and not asks_json()


def step_aside() -> None:
    """Erase the bar that is shown, for something else is to be written; its next report shows it again."""
    if _bars:
        _bars[-1].erase()


def _unwatched(done: int, planned: int | None, tests: int = 0, /) -> None:
    """Show nothing."""


class _Bar:
    """A bar on standard error, which is drawn anew at each report.

    No thread draws it: a forked worker would inherit its locks, and Ctrl-C could reach it inside a solver.
    """

    def __init__(self, doing: str, found: bool) -> None:
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            ProgressColumn,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        columns: list[ProgressColumn] = [BarColumn(_WIDTH), MofNCompleteColumn()]
        if doing:
            columns.insert(0, TextColumn(doing, markup=False))
        if found:
            columns.append(TextColumn("{task.fields[tests]} tests"))
        columns += [TimeElapsedColumn(), TextColumn("{task.fields[eta]}"), TimeRemainingColumn()]
        self._progress = Progress(*columns, speed_estimate_period=_PERIOD)
        self._task = self._progress.add_task("", total=None, tests=0, eta="")
        self._lines = 0
        self._drawn_at = 0.0

    def __call__(self, done: int, planned: int | None, tests: int = 0, /) -> None:
        """Show a report, unless the last one was shown a moment ago."""
        eta = "ETA" if planned else ""
        self._progress.update(self._task, completed=done, total=planned, tests=tests, eta=eta)
        now = time.monotonic()
        if now - self._drawn_at >= PAUSE:
            self._draw()
            self._drawn_at = now

    def erase(self) -> None:
        """Erase what is drawn."""
        if self._lines:
            text = "\r\x1b[2K" + "\x1b[1A\x1b[2K" * (self._lines - 1)
            self._lines = 0
            sys.stderr.write(text)
            sys.stderr.flush()

    def _draw(self) -> None:
        from rich.console import Console

        console = Console(file=sys.stderr)
        with console.capture() as captured:
            for part in self._parts():
                console.print(part)
        picture = captured.get().rstrip("\n")
        sys.stdout.flush()  # what was printed before stands above the bar
        step_aside()
        self.erase()
        sys.stderr.write(picture)
        sys.stderr.flush()
        self._lines = picture.count("\n") + 1

    def _parts(self) -> Iterator[RenderableType]:
        from rich.text import Text

        yield self._progress.get_renderable()
        for step in _steps()[:_SHOWN]:
            yield Text(f"  {step}", style="dim", no_wrap=True, overflow="ellipsis")


def _steps() -> list[str]:
    """Return what is waited for now: by processes that work for this one, or else by itself."""
    from corpus.awaited import awaited
    from corpus.errors import one_line
    from synth.pool import steps

    return [one_line(step) for step in steps() or [awaited()] if step]
