"""What a command waits for: other programs, tests on devices, answers. Ctrl-C is answered with it.

with awaiting("g++ on sb.cpp"):
    ...
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import get_ident

from corpus.errors import one_line

_waits: dict[int, list[str]] = {}
"""What each thread waits for, by its number: the last is a part of those before it."""

_NAMED = 2
"""As many are named, and the others are counted."""


@contextmanager
def awaiting(what: str) -> Iterator[Callable[[str], None]]:
    """Wait for something within the block; yield a function that says what it is by now."""
    thread = get_ident()
    mine = _waits.setdefault(thread, [])
    depth = len(mine)
    mine.append(what)

    def by_now(what: str) -> None:
        mine[depth] = what

    try:
        yield by_now
    finally:
        del mine[depth:]
        if not mine:
            _waits.pop(thread, None)


def awaited() -> str:
    """Return what is waited for now, in words without control characters; empty where it is nothing."""
    names = [waits[-1] for waits in list(_waits.values()) if waits]
    told = names[:_NAMED] + ([f"{len(names) - _NAMED} more"] if len(names) > _NAMED else [])
    return one_line(" and ".join(filter(None, (", ".join(told[:-1]), *told[-1:]))))
