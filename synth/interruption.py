"""Ctrl-C at any moment of a command: one line and exit code 130, and never a traceback.

Python answers Ctrl-C by an exception in the main thread, wherever that is. Within ``interruptible`` the command can
catch it. Before, while modules are loaded, and after, while the interpreter ends, nobody can; the process ends there
instead, at once. A process that is forked would begin with the answers of its parent, so it is forked while signals are
``held_back``.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

LINE, CODE = "synth: interrupted", 130
"""What is said, and the exit code, as shells have it: 128 and the number of the signal."""

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""The signals by which a person or a machine ends a command."""


def end_at_once() -> None:
    """From now on Ctrl-C ends the process, unless whoever started it wants Ctrl-C to be ignored."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)
    sys.unraisablehook = _again


@contextmanager
def interruptible() -> Iterator[None]:
    """Within it Ctrl-C raises ``KeyboardInterrupt``, where it would end the process."""
    if signal.getsignal(signal.SIGINT) is not _end:
        yield
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, _end)


@contextmanager
def held_back() -> Iterator[None]:
    """Signals that end a command wait; a process that is forked meanwhile gets none before ``let_through``."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    try:
        signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def let_through() -> None:
    """Signals that end a command wait no longer."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)


def _end(_number: int, _frame: FrameType | None) -> None:
    os.write(2, f"{LINE}\n".encode())
    os._exit(CODE)


def _again(unraisable: sys.UnraisableHookArgs) -> None:
    """Ctrl-C that met Python where no exception can be raised, as in a destructor, comes again after it."""
    if isinstance(unraisable.exc_value, KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    else:
        sys.__unraisablehook__(unraisable)
