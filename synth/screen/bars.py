"""The bar that shows a person how far long work is, on standard error, with silence elsewhere.

A bar says what is done, how much of it, and how long the rest may take; lines below it say what is waited for now, as
a compiler, a device or a question (``corpus.awaited``), here and in the processes that work for this one.
"""

from __future__ import annotations

import os
import sys
import time
from threading import current_thread, main_thread

from synth.options.form import asks_json
from synth.watch import erasure

PAUSE = 0.1
"""The seconds between two pictures of the bar, which cost more than a small test."""

_PERIOD = 3600.0
"""The seconds over which the time left is estimated: a unit of a synthesis takes longer than the usual 30."""

_WIDTH = 24
"""The columns of the bar itself, which leave room for the words beside it on a screen of 80."""

_SHOWN = 2
"""As many processes are shown, each in a line."""


def shown_bar(doing: str, found: bool) -> ShownBar | None:
    """Return a bar where a person sees standard error, and has asked for no JSON.

    ``doing`` stands before the bar. Without ``found``, the bar shows no number of tests.
    """
    if sys.stderr.isatty() and os.environ.get("TERM", "dumb") not in ("dumb", "unknown") and not asks_json():
        return ShownBar(doing, found)
    return None


class ShownBar:
    """A bar on standard error, which is drawn anew at each report.

    No thread draws it: a forked worker would inherit its locks, and Ctrl-C could reach it inside a solver.
    """

    def __init__(self, doing: str, found: bool) -> None:
        from rich.console import Console  # slow to import, and rarely needed
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

    steps = [step for worker in workers for step in worker()]
    return [one_line(step) for step in steps or [awaited()] if step]
