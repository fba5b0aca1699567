"""The progress of long work on a terminal, with silence elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Watch = Callable[[int, int | None, int], None]
"""A function that is told how many units of work are done, how many there are (None: not known yet), and how many tests
are found.
"""

PAUSE = 0.1
"""The seconds between two pictures of the bar, which cost more than a small test."""

_PERIOD = 3600.0
"""The seconds over which the time left is estimated: a unit of a synthesis takes longer than the usual 30."""


@contextmanager
def watching(doing: str = "", found: bool = True, shown: bool = True) -> Iterator[Watch]:
    """Yield a function to report to; a bar shows the last report, with the time left where the total is known.

    ``doing`` stands before the bar. Without ``found``, the bar shows no number of tests. Where ``shown`` is false,
    there is no bar on a terminal either.
    """
    if not (shown and sys.stderr.isatty()):
        yield lambda done, planned, tests: None
        return
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

    columns: list[ProgressColumn] = [BarColumn(), MofNCompleteColumn()]
    if doing:
        columns.insert(0, TextColumn(doing))
    if found:
        columns.append(TextColumn("{task.fields[tests]} tests"))
    columns += [TimeElapsedColumn(), TextColumn("{task.fields[eta]}"), TimeRemainingColumn()]
    # No thread refreshes the bar: a forked worker would inherit its locks, and Ctrl-C could reach it inside a solver.
    screen = Console(stderr=True)
    with Progress(
        *columns, console=screen, transient=True, auto_refresh=False, speed_estimate_period=_PERIOD
    ) as progress:
        task = progress.add_task("", total=None, tests=0, eta="")
        shown_at = 0.0

        def watch(done: int, planned: int | None, tests: int) -> None:
            nonlocal shown_at
            now = time.monotonic()
            progress.update(task, completed=done, total=planned, tests=tests, eta="ETA" if planned else "")
            if now - shown_at >= PAUSE:
                progress.refresh()
                shown_at = now

        yield watch
