"""What a worker process of ``synth.pool`` does: it works at tasks within limits, and tells its parent of them."""

from __future__ import annotations

import ctypes
import gc
import os
import resource
import signal
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from mmap import mmap
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Any

from corpus.awaited import report_waits
from synth.interruption import let_through


@dataclass(frozen=True, slots=True)
class Limits:
    """What one item may cost: seconds on the clock, and megabytes (2^20 bytes) beyond what a worker begins with.

    None: as much as it takes. Memory that is mapped from files does not count. ``whole``: the seconds are those of all
    the items of a task.
    """

    seconds: float | None = None
    megabytes: int | None = None
    whole: bool = False


UNLIMITED = Limits()

TIMEOUT, MEMORY = "--timeout", "--memory"
"""The options of commands that set limits."""


@dataclass(frozen=True, slots=True)
class Items:
    """A worker's message: items that it has made of its task."""

    items: Sequence[Any]


@dataclass(frozen=True, slots=True)
class Done:
    """A worker's message: its task is done."""


@dataclass(frozen=True, slots=True)
class Failed:
    """A worker's message: its task raised an exception."""

    error: Exception


@dataclass(frozen=True, slots=True)
class Starved:
    """The worker ran out of memory, and ends."""


class Shared:
    """Memory that a worker and its parent both see: how many items of its task are made, and what it waits for now.

    Only the worker writes there; a text may be read while it is written.
    """

    def __init__(self) -> None:
        memory = memoryview(mmap(-1, 8 + _STEP))
        self._made, self._step = memory[:8].cast("Q"), memory[8:]

    @property
    def made(self) -> int:
        """The number of items that are made."""
        return int(self._made[0])

    def begin(self) -> None:
        """Count anew, for a task begins."""
        self._made[0] = 0

    def count(self) -> None:
        """Count one more item."""
        self._made[0] += 1

    @property
    def step(self) -> str:
        """What the worker waits for, in words."""
        return bytes(self._step).partition(b"\0")[0].decode(errors="ignore")

    def tell(self, step: str) -> None:
        """Say what the worker waits for."""
        text = step.encode(errors="replace")[:_STEP]
        self._step[:] = text.ljust(_STEP, b"\0")


_STEP = 248
"""The bytes of what a worker waits for; one line of a terminal shows fewer."""


def end_with_parent(parent: int) -> None:
    """That Linux ends this process when its parent is gone, in whatever call it is, and however long that takes.

    ``parent``: its number, for it may be gone already.
    """
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


_PR_SET_PDEATHSIG = 1  # linux/prctl.h


class _Sender:
    """Sends items as they are made, or those of some time together; a thread of its own sees to that."""

    def __init__(self, connection: Connection, shared: Shared, held: float) -> None:
        self._connection = connection
        self._shared = shared
        self._held = held
        self._items: list[Any] = []
        self._some = Event()
        self._lock = Lock()
        if held:
            Thread(target=self._send_at_times, daemon=True).start()

    def add(self, item: object) -> None:
        """Send one more item of the task, at once or with others."""
        with self._lock:
            self._items.append(item)
            self._shared.count()
            if not self._held:
                self._send()
        self._some.set()

    def end(self, message: Done | Failed | Starved) -> None:
        """What comes after all items of a task."""
        with self._lock:
            if not isinstance(message, Starved):  # there may be no memory to send them, and they can be made again
                self._send()
            self._connection.send(message)

    def _send(self) -> None:
        if self._items:
            self._connection.send(Items(self._items))
            self._items = []

    def _send_at_times(self) -> None:
        with suppress(OSError):  # the parent is gone: that is seen where a task is waited for
            while True:
                self._some.wait()
                time.sleep(self._held)
                self._some.clear()
                with self._lock:
                    self._send()


def serve(
    parent: int,
    connection: Connection,
    shared: Shared,
    parents: list[Connection],
    work: Callable[[Any], Iterator[Any]],
    limits: Limits,
    held: float,
) -> None:
    """What the process does: task after task, until its parent says no more or its memory runs out."""
    end_with_parent(parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent answers Ctrl-C
    for end in (signal.SIGTERM, signal.SIGHUP, signal.SIGALRM):
        signal.signal(end, signal.SIG_DFL)
    let_through()
    for end_of_parent in parents:
        end_of_parent.close()  # else this process would not notice that the parent is gone
    gc.freeze()  # what the parent made stays, and need not be looked through
    with suppress(OSError):  # of all processes Linux is to end this one first, where memory runs out
        Path("/proc/self/oom_score_adj").write_text("1000")
    report_waits(shared.tell)
    sender = _Sender(connection, shared, held)
    if limits != UNLIMITED:
        _limit_memory(limits)
        # What C++ says as it dies; the user is told by the loss.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    try:
        while True:
            task = connection.recv()
            message = _attempt(task, sender, work, limits)
            sender.end(message)
            if not isinstance(message, Done):
                return
    except (EOFError, OSError):
        pass
    except MemoryError:  # none is left to say so
        os.abort()


def _attempt(
    task: object, sender: _Sender, work: Callable[[Any], Iterator[Any]], limits: Limits
) -> Done | Failed | Starved:
    """Sends the items of a task, and gives what is to be said at its end."""
    seconds = limits.seconds or 0
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        for item in work(task):
            left, _ = signal.setitimer(signal.ITIMER_REAL, 0)  # waiting for the parent is not the item's fault
            sender.add(item)
            signal.setitimer(signal.ITIMER_REAL, left if limits.whole else seconds)
        signal.setitimer(signal.ITIMER_REAL, 0)
    except MemoryError:
        pass  # what was tried is still held here, so there may be no memory to say so
    except Exception as error:
        signal.setitimer(signal.ITIMER_REAL, 0)
        if is_starved(error):
            return Starved()
        error.add_note("".join(traceback.format_exception(error)))  # a traceback cannot be sent
        return Failed(error)
    else:
        return Done()
    signal.setitimer(signal.ITIMER_REAL, 0)
    return Starved()


def is_starved(error: Exception) -> bool:
    """Whether an exception says that memory ran out, though it is no ``MemoryError``."""
    return "out of memory" in str(error)  # z3's way to say it


def _limit_memory(limits: Limits) -> None:
    """What a process allocates for itself: not files, and not what is only reserved, as stacks of threads are."""
    if limits.megabytes is None:
        return
    held = int(Path("/proc/self/statm").read_text().split()[5]) * resource.getpagesize()
    most = held + limits.megabytes * 2**20
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))
