"""Ctrl-C at any moment of a command: one line, exit code 130, and never a traceback.

Python answers Ctrl-C by an exception in the main thread, wherever that thread is. Within ``interruptible`` the command
can catch it. Where it waits for something (``corpus.awaited``), the line comes at once and says for what; a second
Ctrl-C ends the process as it is, for what is on the disk is whole after any end. Before, while modules are loaded, no
code can catch it: the process ends at once instead. Afterwards, while the interpreter ends, there is nothing left to
stop. A process that is forked would begin with the signal handlers of its parent, so it is forked while signals are
``held_back``.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import TypeVar

from corpus.awaited import awaited
from synth.watch import erasure

Item = TypeVar("Item")

LINE, CODE = "synth: interrupted", 130
"""The message at Ctrl-C, and the exit code by the convention of shells: 128 and the number of the signal."""

_announced = False
"""Whether the message has been written."""

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""The signals by which a person or a machine ends a command."""


def end_at_once() -> None:
    """Let Ctrl-C end the process from now on, unless the process was started to ignore Ctrl-C."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)
    sys.unraisablehook = _again


def goes_to_its_end() -> None:
    """Ignore Ctrl-C from now on, since all that is left is the end of the process."""
    if signal.getsignal(signal.SIGINT) is _end:
        signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def interruptible() -> Iterator[None]:
    """Let Ctrl-C raise ``KeyboardInterrupt`` within the block, and end the process.

    The process also ends where a library turns the interruption into an error of its own, or fails as it is left.
    """
    ends = signal.getsignal(signal.SIGINT) is _end
    if ends:
        signal.signal(signal.SIGINT, _interrupt)
    try:
        yield
    except Exception as error:
        if _came_of_it(error):
            raise KeyboardInterrupt from error
        raise
    finally:
        if ends:
            signal.signal(signal.SIGINT, _end)


def until_interrupted(items: Iterable[Item]) -> Iterator[list[Item]]:
    """Yield one list, of all items; where Ctrl-C cuts them short, of those before it, and then raise it again.

    Where there is none before it, nothing is yielded.
    """
    known: list[Item] = []
    try:
        known.extend(items)
    except KeyboardInterrupt:
        if known:
            yield known
        raise
    yield known


def _came_of_it(error: BaseException | None) -> bool:
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


@contextmanager
def held_back() -> Iterator[None]:
    """Hold back the signals that end a command; a process that is forked meanwhile gets none before ``let_through``."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    try:
        signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def let_through() -> None:
    """Let the signals through that end a command."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)


def is_announced() -> bool:
    """Return whether the message of an interruption has been written."""
    return _announced


def _tell(more: str = "") -> None:
    global _announced
    if not _announced:
        _announced = True
        with suppress(OSError):
            os.write(2, f"{erasure()}{LINE}{more}\n".encode(errors="replace"))


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    signal.signal(signal.SIGINT, _end)
    if what := awaited():
        _tell(f"; it ends as soon as {what} has stopped, and Ctrl-C again ends it at once")
    raise KeyboardInterrupt


def _end(_number: int, _frame: FrameType | None) -> None:
    _tell()
    os._exit(CODE)


def _again(unraisable: sys.UnraisableHookArgs) -> None:
    """Send Ctrl-C again when it met Python where no exception can be raised, as in a destructor."""
    if isinstance(unraisable.exc_value, KeyboardInterrupt):
        if signal.getsignal(signal.SIGINT) is _end:
            signal.signal(signal.SIGINT, _interrupt)
        from threading import Timer  # imported here since it is rarely needed

        Timer(0.01, os.kill, (os.getpid(), signal.SIGINT)).start()
    else:
        sys.__unraisablehook__(unraisable)
