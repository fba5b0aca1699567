"""What an analysis tells while it works: how far it is, and remarks, such as a file that is left out.

``synth.screen`` shows a bar to a person, and each remark as a line on standard error. In a library nobody listens.

remark(f"{path}: the last line was cut off, and is left out")
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
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


class Bar(Watch, Protocol):
    """A watch that draws, and makes room for what else is written."""

    def erasure(self) -> str:
        """Return what erases all that is drawn, for it is written now."""

    def waits(self, step: str) -> None:
        """Show what is waited for from now on."""


BarMaker = Callable[[str, bool], Bar | None]
"""Makes a bar for work of a name, with a number of tests or without; none where nobody watches."""

POLL = 0.5
"""The seconds between two pictures while nothing is reported."""

_bars: list[Bar] = []
"""The bars that are shown, the innermost last."""

_makers: list[BarMaker] = []
"""The maker of bars, if there is one."""

_listeners: list[Callable[[str], None]] = []
"""The listener to remarks, if there is one."""


def show_bars(maker: BarMaker) -> None:
    """Have a function make the bar of each long work from now on."""
    _makers[:] = [maker]


def show_remarks(listener: Callable[[str], None]) -> None:
    """Have a function told each remark from now on."""
    _listeners[:] = [listener]


def remark(words: str) -> None:
    """Tell a remark, of one line, to the listener."""
    for listener in _listeners:
        listener(words)


@contextmanager
def watching(doing: str, found: bool = True) -> Iterator[Watch]:
    """Yield a function to report to; a bar shows the last report, with the time left where the total is known.

    ``doing`` stands before the bar. Without ``found``, the bar shows no number of tests.
    """
    bar = _makers[0](doing, found) if _makers else None
    if bar is None:
        yield _unwatched
        return
    from corpus.awaited import listening

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
            for future in done:
                future.result()
    return [future.result() for future in futures]


@contextmanager
def busy(doing: str) -> Iterator[None]:
    """Show what is done within the block, where nothing of it can be counted."""
    with watching(doing, found=False) as watch:
        watch(0, 1)
        yield


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
