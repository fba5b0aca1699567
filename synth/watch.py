"""Progress of long work on a terminal; silence elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def watching() -> Iterator[Callable[[int, int, int], None]]:
    """Yields a function to tell how many units are done and planned, and how many tests are found."""
    if not sys.stderr.isatty():
        yield lambda done, planned, tests: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[tests]} tests"), TimeElapsedColumn())
    # No thread that refreshes it: a forked worker would inherit its locks, and Ctrl-C could reach it inside a solver.
    with Progress(*columns, console=Console(stderr=True), transient=True, auto_refresh=False) as progress:
        task = progress.add_task("", total=None, tests=0)
        yield lambda done, planned, tests: progress.update(
            task, completed=done, total=planned, tests=tests, refresh=True
        )
