"""Work over processes: each task is a generator, and what it yields arrives as it is made."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from typing import TypeVar

Task = TypeVar("Task")
Item = TypeVar("Item")


def cores() -> int:
    """How many processes can work at once here."""
    return len(os.sched_getaffinity(0))


def run_tasks(
    tasks: Iterable[Task], work: Callable[[Task], Iterator[Item]], jobs: int, poll: float = 0.5
) -> Generator[tuple[Task, Item] | None, None, None]:
    """Yields ``(task, item)`` for every item that ``work(task)`` yields, tasks spread over ``jobs`` processes.

    With one job everything happens in this process, in order. Otherwise items of different tasks interleave, and
    ``None`` is yielded at least every ``poll`` seconds, so that the caller can watch a clock. An exception in a worker
    is raised here. When the caller stops early, the workers are ended.
    """
    if jobs <= 1:
        for task in tasks:
            for item in work(task):
                yield task, item
        return
    context = get_context("fork")
    waiting = iter(tasks)
    ours: list[Connection] = []
    processes = []
    current: dict[Connection, Task] = {}
    try:
        for _ in range(jobs):
            mine, theirs = context.Pipe()
            ours.append(mine)
            process = context.Process(target=_worker, args=(theirs, list(ours), work), daemon=True)
            process.start()
            theirs.close()
            processes.append(process)
        for connection in ours:
            _next(connection, waiting, current)
        while current:
            ready = [c for c in wait(list(current), timeout=poll) if isinstance(c, Connection)]
            if not ready:
                yield None
            for connection in ready:
                try:
                    kind, item = connection.recv()
                except EOFError:
                    raise RuntimeError("a worker process died") from None
                if kind == "item":
                    yield current[connection], item
                elif kind == "error":
                    raise item
                else:
                    del current[connection]
                    _next(connection, waiting, current)
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.join()


def _next(connection: Connection, waiting: Iterator[Task], current: dict[Connection, Task]) -> None:
    with suppress(StopIteration):
        task = next(waiting)
        connection.send(task)
        current[connection] = task


def _worker(connection: Connection, parents: list[Connection], work: Callable[[Task], Iterator[Item]]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent answers Ctrl-C
    for parent in parents:
        parent.close()  # else this process would not notice that the parent is gone
    with suppress(EOFError, BrokenPipeError):
        while True:
            task = connection.recv()
            try:
                for item in work(task):
                    connection.send(("item", item))
            except Exception as error:
                connection.send(("error", error))
                return
            connection.send(("done", None))
