"""What a process waits for: other programs, tests on devices, answers. Ctrl-C is answered with it, and bars show it.

with awaiting("g++ on sb.cpp"):
    ...
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from threading import get_ident

from corpus.errors import one_line

_waits: dict[int, list[str]] = {}
"""What each thread waits for, by its number: the last is a part of those before it."""

_NAMED = 2
"""As many are named, and the others are counted."""

_listeners: list[Callable[[str], None]] = []
"""Who is told of each change: in a worker process, what tells its parent."""


def report_waits(listener: Callable[[str], None]) -> None:
    """Have a function told at each change what this process waits for, each wait behind those that it is a part of.

    A forked process waits for nothing that its parent waits for, and tells none of its listeners.
    """
    _waits.clear()
    _listeners[:] = [listener]


@contextmanager
def listening(listener: Callable[[str], None]) -> Iterator[None]:
    """Have one more function told within the block, at each change, what this process waits for."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


workers: list[Callable[[], list[str]]] = []
"""What says what processes wait for that work for this one."""

_readers: list[Callable[[Iterable[bytes], int, str], Iterator[bytes]]] = []
"""Who shows how far a large file is read."""


def show_reading(reader: Callable[[Iterable[bytes], int, str], Iterator[bytes]]) -> None:
    """Have a function go through the lines of each large file that is read from now on: its bytes, and its name."""
    _readers[:] = [reader]


def read_through(lines: Iterator[bytes], size: int, name: str) -> Iterator[bytes]:
    """Return the lines of a large file, by way of who shows how far it is read."""
    for reader in _readers:
        return reader(lines, size, name)
    return lines


def _changed() -> None:
    for listener in _listeners:
        listener("; ".join(": ".join(waits) for waits in list(_waits.values())))


@contextmanager
def awaiting(what: str) -> Iterator[Callable[[str], None]]:
    """Wait for something within the block; yield a function that says what it is by now."""
    thread = get_ident()
    mine = _waits.setdefault(thread, [])
    depth = len(mine)
    mine.append(what)
    _changed()

    def by_now(what: str) -> None:
        mine[depth] = what
        _changed()

    try:
        yield by_now
    finally:
        del mine[depth:]
        if not mine:
            _waits.pop(thread, None)
        _changed()


def awaited() -> str:
    """Return what is waited for now, in words without control characters; empty where it is nothing."""
    names = [waits[-1] for waits in list(_waits.values()) if waits]
    shown = names[:_NAMED] + ([f"{len(names) - _NAMED} more"] if len(names) > _NAMED else [])
    return one_line(" and ".join(filter(None, (", ".join(shown[:-1]), *shown[-1:]))))
