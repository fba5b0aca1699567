"""The progress of long work on a terminal, with silence elsewhere.

A bar says what is done, how much of it, and how long the rest may take; lines below it say what is waited for now, as
a compiler, a device or a question (``corpus.awaited``), here and in the processes that work for this one.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from threading import current_thread, main_thread
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:  # slow to import, and rarely needed
    from concurrent.futures import Future

Item = TypeVar("Item")


class Watch(Protocol):
    """What is told how many units of work are done, how many there are (None: not known yet), and how many tests are
    found.
    """

    def __call__(self, done: int, planned: int | None, tests: int = 0, /) -> None:
        """Show these numbers."""


PAUSE = 0.1
"""The seconds between two pictures of the bar, which cost more than a small test."""

POLL = 0.5
"""The seconds between two pictures while nothing is reported."""

_PERIOD = 3600.0
"""The seconds over which the time left is estimated: a unit of a synthesis takes longer than the usual 30."""

_WIDTH = 24
"""The columns of the bar itself, which leave room for the words beside it on a screen of 80."""

_SHOWN = 2
"""As many processes are shown, each in a line."""

_bars: list[_Bar] = []
"""The bars that are shown, the innermost last."""


@contextmanager
def watching(doing: str, found: bool = True) -> Iterator[Watch]:
    """Yield a function to report to; a bar shows the last report, with the time left where the total is known.

    ``doing`` stands before the bar. Without ``found``, the bar shows no number of tests.
    """
    if not is_watched():
        yield _unwatched
        return
    from corpus.awaited import listening

    bar = _Bar(doing, found)
    _bars.append(bar)
    try:
        with listening(bar.waits):
            yield bar
    finally:
        step_aside()
        _bars.remove(bar)


def watched(items: Iterable[Item], total: int | None, doing: str) -> Iterator[Item]:
    """Yield the items, with a bar where a person watches."""
    with watching(doing, found=False) as watch:
        watch(0, total)
        for done, item in enumerate(items, 1):
            yield item
            watch(done, total)


def watched_lines(lines: Iterable[bytes], size: int, name: str) -> Iterator[bytes]:
    """Yield the lines of a file of so many bytes, with a bar where a person watches."""
    done = 0
    with watching(f"Reading {name}, MB", found=False) as watch:
        for line in lines:
            if done >> 20 != (done := done + len(line)) >> 20:
                watch(done >> 20, size >> 20)
            yield line


def gathered(futures: Sequence[Future[Item]], doing: str) -> list[Item]:
    """Return what futures give, in their order, with a bar where a person watches; raise what one of them raises."""
    from concurrent.futures import FIRST_COMPLETED, wait

    left = set(futures)
    with watching(doing, found=False) as watch:
        while left:
            watch(len(futures) - len(left), len(futures))
            done, left = wait(left, POLL, FIRST_COMPLETED)
            for each in done:
                each.result()
    return [each.result() for each in futures]


@contextmanager
def busy(doing: str) -> Iterator[None]:
    """Show what is done within the block, where nothing of it can be counted."""
    with watching(doing, found=False) as watch:
        watch(0, 1)
        yield


def is_watched() -> bool:
    """Return whether a person sees standard error, and has asked for no JSON; each bar is shown if so."""
    from synth.options.form import asks_json

    return sys.stderr.isatty() and os.environ.get("TERM", "dumb") not in ("dumb", "unknown") and not asks_json()


def step_aside() -> None:
    """Erase the bar that is shown, for something else is to be written; its next report shows it again."""
    if text := erasure():
        sys.stderr.write(text)
        sys.stderr.flush()


def erasure() -> str:
    """Return what erases the bar that is shown, for it is written now; empty where none is shown."""
    return _bars[-1].erasure() if _bars else ""


def _unwatched(done: int, planned: int | None, tests: int = 0, /) -> None:
    """Show nothing."""


class _Bar:
    """A bar on standard error, which is drawn anew at each report.

    No thread draws it: a forked worker would inherit its locks, and Ctrl-C could reach it inside a solver.
    """

    def __init__(self, doing: str, found: bool) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            ProgressColumn,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        columns: list[ProgressColumn] = [TextColumn(doing, markup=False), BarColumn(_WIDTH), MofNCompleteColumn()]
        if found:
            columns.append(TextColumn("{task.fields[tests]} tests"))
        columns += [TimeElapsedColumn(), TextColumn("{task.fields[eta]}"), TimeRemainingColumn()]
        self._progress = Progress(*columns, console=Console(stderr=True), speed_estimate_period=_PERIOD)
        self._task = self._progress.add_task("", total=None, tests=0, eta="")
        self._lines = 0
        self._drawn_at = 0.0
        self._step_is_shown = False

    def __call__(self, done: int, planned: int | None, tests: int = 0, /) -> None:
        """Show a report, unless the last one was shown a moment ago."""
        eta = "ETA" if planned else ""
        self._progress.update(self._task, completed=done, total=planned, tests=tests, eta=eta)
        if time.monotonic() - self._drawn_at >= PAUSE:
            self._draw()

    def erasure(self) -> str:
        """Return what erases all that is drawn, for it is written now."""
        lines, self._lines = self._lines, 0
        return "\r\x1b[2K" + "\x1b[1A\x1b[2K" * (lines - 1) if lines else ""

    def waits(self, step: str) -> None:
        """Show what is waited for from now on; only the main thread draws."""
        late = time.monotonic() - self._drawn_at >= PAUSE
        if step and self._drawn_at and (late or not self._step_is_shown) and current_thread() is main_thread():
            self._draw()

    def _draw(self) -> None:
        from rich.console import Console
        from rich.text import Text

        steps = _steps()[:_SHOWN]
        console = Console(file=sys.stderr)
        with console.capture() as captured:
            console.print(self._progress.get_renderable())
            for step in steps:
                console.print(Text(f"  {step}", style="dim"), no_wrap=True, overflow="ellipsis")
        picture = captured.get().rstrip("\n")
        sys.stdout.flush()  # what was printed before stands above the bar
        sys.stderr.write(erasure() + self.erasure() + picture)
        sys.stderr.flush()
        self._lines = picture.count("\n") + 1
        self._drawn_at, self._step_is_shown = time.monotonic(), bool(steps)


def _steps() -> list[str]:
    """Return what is waited for now: by processes that work for this one, or else by itself."""
    from corpus.awaited import awaited, workers
    from corpus.errors import one_line

    steps = [step for each in workers for step in each()]
    return [one_line(step) for step in steps or [awaited()] if step]
