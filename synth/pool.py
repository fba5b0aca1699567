"""Work over processes: each task is a generator, and what it yields arrives as it is made.

A worker that dies costs the item that it was at and nothing else, and the rest goes on with another. Where memory runs
out, Linux is asked to end a worker and not the parent, which holds what was found. Limits hold for each item and are
kept by the worker itself: the kernel ends it when its alarm goes off, whatever code it is in, so that neither a SAT
solver nor a parent that is gone can hold it up. Tasks and items are sent, so they can be pickled; a task may be done
again from its beginning. On a cluster the items of a task come together, and limits are kept by processes of its own
workers.
"""

from __future__ import annotations

import os
import signal
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import count, islice
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from corpus.awaited import workers
from corpus.errors import InputError, one_line
from synth.interruption import held_back
from synth.worker import MEMORY, TIMEOUT, UNLIMITED, Done, Failed, Items, Limits, Shared, Starved, is_starved, serve

if TYPE_CHECKING:
    from concurrent.futures import Future

Task = TypeVar("Task")
Item = TypeVar("Item")
Given = TypeVar("Given")


def cores() -> int:
    """How many processes can work at once here."""
    return len(os.sched_getaffinity(0))


class LostError(InputError):
    """Work that is lost, by no fault of what was asked: processes that died, or a cluster that is gone."""


@contextmanager
def resumable(kept: bool = True, by: str = "the same command") -> Iterator[None]:
    """Says of work that is lost what goes on with what was found before, where that is kept."""
    try:
        yield
    except LostError as error:
        if not kept:
            raise
        raise InputError(f"{error.message}; what was found before is kept, and {by} goes on", error.path) from None


class Cluster(Protocol):
    """The interface of processes on other machines, which ``synth.cluster`` implements."""

    @property
    def slots(self) -> int:
        """How many tasks it can work at now. Raises ``LostError`` where it does not answer, or has had no worker for
        long."""

    def submit(self, work: Callable[[Any], Iterator[Any]], task: Any) -> Future[Any]:
        """Begin a task on the cluster and return its future."""

    def result(self, future: Future[Any]) -> list[Any]:
        """The items of a task that is done. Raises what the work raised, ``LostError`` where the cluster has lost it,
        and ``InputError`` where its worker is not as this process."""


Jobs = int | Cluster
"""Where work is done: by so many processes of this machine, or by a cluster."""


@dataclass(frozen=True, slots=True)
class Loss(Generic[Task]):
    """A task that its worker did not finish: how many of its items have arrived, how many were made, and why the next
    was not. What was made and has not arrived is lost, too, by no fault of its own.

    ``certain``: it was the item's own fault, for it was too slow, or all that its process ever did. Else what came
    before may have filled the memory; and Linux kills any process where there is none left. ``limit``: the option of
    commands that sets the limit that was exceeded, empty where none was.
    """

    task: Task
    arrived: int
    made: int
    reason: str
    certain: bool
    limit: str = ""


@dataclass(frozen=True, slots=True)
class Instead(Generic[Task, Item]):
    """What to make of a loss: items in the place of what was lost, and the tasks that are still to be done."""

    items: Sequence[Item] = ()
    tasks: Sequence[Task] = ()


class Todo(Iterator[Task]):
    """Tasks in order. More may be put before those that are left, also when none was left."""

    def __init__(self, tasks: Sequence[Task]) -> None:
        self._tasks = list(reversed(tasks))

    def __len__(self) -> int:
        return len(self._tasks)

    def __next__(self) -> Task:
        if not self._tasks:
            raise StopIteration
        return self._tasks.pop()

    def put_first(self, tasks: Sequence[Task]) -> None:
        """Put tasks before all those that are left, in their order."""
        self._tasks.extend(reversed(tasks))


def run_tasks(
    tasks: Iterable[Task],
    work: Callable[[Task], Iterator[Item]],
    jobs: Jobs,
    poll: float = 0.5,
    limits: Limits = UNLIMITED,
    instead: Callable[[Loss[Task]], Instead[Task, Item]] | None = None,
    held: float = 0,
    over: Callable[[Task, str], None] | None = None,
) -> Generator[tuple[Task, Item] | None, None, None]:
    """Yields ``(task, item)`` for every item that ``work(task)`` yields, tasks spread over ``jobs`` processes.

    Tasks begin in order, and the items of a task arrive in order; with one job all do. ``tasks`` is asked again when it
    had no more and items have arrived since (``Todo``). ``None`` is yielded at least every ``poll`` seconds, so that
    the caller can watch a clock. An exception in a worker is raised here. When the
    caller stops early, the workers are ended.

    Where a worker dies or an item exceeds its limits, ``instead`` says what to go on with. Without it, the task is done
    once more, by a process that knows what the caller knows by then; the second time ``LostError`` is raised. A task
    that exceeds a limit is left out then, and ``over`` is told of it and of the option that sets the limit.

    ``held``: the seconds that an item may be held back, for others to come with it. That makes sense where many are
    made in a millisecond each, for two processes that talk of each keep waking one another. Then a second process
    begins only where the first has been at work for ``ALONE`` seconds, for a few such items cost less than a process.

    A cluster does a task anew by itself; a process of its worker's keeps to the limits. It knows no ``instead``: see
    ``map_each``.
    """
    if not isinstance(jobs, int):
        assert instead is None
        if limits == UNLIMITED:
            yield from _run_on(jobs, tasks, work, poll)
            return
        assert over is not None
        for result in _run_on(jobs, tasks, partial(_within, work=work, limits=limits), poll):
            if result is None:
                yield None
                continue
            task, item = result
            if isinstance(item, _Over):
                over(task, item.limit)
            else:
                yield task, item
        return
    crew = _Crew(work, limits, held)
    waiting: Iterator[Task] = iter(tasks)
    put_back: list[Task] = []
    again = deque[Task]()
    retried: list[Task] = []
    alone_until = time.monotonic() + (ALONE if held else 0)
    try:
        while True:
            alone = jobs > 1 and time.monotonic() < alone_until
            while len(crew.busy) < (1 if alone else max(jobs, 1)):
                fresh = bool(again)
                try:
                    task = again.popleft() if fresh else put_back.pop() if put_back else next(waiting)
                except StopIteration:
                    break
                try:
                    crew.begin(task, fresh)
                except OSError as error:  # there is no room for one more process
                    if not crew.busy:
                        raise InputError(f"no process can be started: {error.strerror or error}") from None
                    if fresh:
                        again.appendleft(task)
                    else:
                        put_back.append(task)
                    break
            if not crew.busy:
                return
            ready = wait(list(crew.busy), timeout=ALONE if alone else poll)
            if not ready:
                yield None
            for connection in ready:
                assert isinstance(connection, Connection)
                worker = crew.busy[connection]
                message = worker.message()
                if isinstance(message, Items):
                    for item in message.items:
                        worker.arrived += 1
                        yield worker.task, item
                elif isinstance(message, Done):
                    crew.release(worker)
                elif isinstance(message, Failed):
                    raise message.error
                else:
                    loss = crew.bury(worker, message)
                    if instead is not None:
                        new = instead(loss)
                        again.extend(new.tasks)
                        for item in new.items:
                            yield loss.task, item
                    elif over is not None and loss.limit and (loss.certain or loss.task in retried):
                        over(loss.task, loss.limit)
                    elif loss.task in retried:
                        reason = f"a part of the work failed twice: it {loss.reason}"
                        raise LostError(reason)
                    else:
                        retried.append(loss.task)
                        again.append(loss.task)
    finally:
        crew.dismiss()


@dataclass(frozen=True, slots=True)
class Subtasks(Generic[Task]):
    """What a task may return instead of an item: tasks whose results come in its place."""

    tasks: Sequence[Task]


def results_in_order(
    tasks: Sequence[Task],
    function: Callable[[Task], Item | Subtasks[Task]],
    jobs: Jobs,
    limits: Limits,
    lost: Callable[[Task, str], Item],
    watch: Callable[[int, int], None],
    poll: float = 0.5,
) -> Generator[Item | None, None, None]:
    """Yield what ``function`` returns for each task, in the order of the tasks, each as soon as those before it are
    known; ``lost(task, reason)`` where it exceeds the limits, or raises another exception than ``InputError``.

    Tasks may be long and of any number: ``function`` may return ``Subtasks``, which begin before the tasks that are
    left. ``None`` is yielded at least every ``poll`` seconds while a result is waited for. ``watch`` is told how many
    results there are, of how many as far as is known.
    """
    given = 0
    due = list(reversed(range(len(tasks))))  # the numbers of the tasks whose results are due, the next one last
    numbers = count(len(tasks))
    todo = Todo(list(enumerate(tasks)))
    found: dict[int, Item] = {}
    tried: set[int] = set()

    def instead(loss: Loss[tuple[int, Task]]) -> Instead[tuple[int, Task], Item | Subtasks[Task]]:
        number, task = loss.task
        if loss.arrived:  # it died after its item
            return Instead()
        if (loss.made or not loss.certain) and number not in tried:
            tried.add(number)
            return Instead(tasks=[loss.task])
        return Instead([lost(task, _over(loss.limit) if loss.limit else loss.reason)])

    def over(task: tuple[int, Task], limit: str) -> None:
        found[task[0]] = lost(task[1], _over(limit))

    work = partial(_numbered, function=function, lost=lost)
    here = isinstance(jobs, int)
    results = run_tasks(todo, work, jobs, poll, limits, instead if here else None, over=None if here else over)
    watch(0, len(tasks))
    with closing(results):
        for result in results:
            watch(given, given + len(due))
            if result is None:
                yield None
            else:
                (number, _), item = result
                if isinstance(item, Subtasks):
                    inner = [(next(numbers), task) for task in item.tasks]
                    place = due.index(number)
                    due[place : place + 1] = [subtask for subtask, _ in reversed(inner)]
                    todo.put_first(inner)
                else:
                    found[number] = item
            while due and due[-1] in found:
                given += 1
                yield found.pop(due.pop())
    yield from (found.pop(number) for number in reversed(due))


def _numbered(
    task: tuple[int, Task], function: Callable[[Task], Item | Subtasks[Task]], lost: Callable[[Task, str], Item]
) -> Iterator[Item | Subtasks[Task]]:
    yield _attempted(function, task[1], lost)


def _over(limit: str) -> str:
    return f"takes more than {limit} allows"


def _attempted(function: Callable[[Given], Item], given: Given, lost: Callable[[Given, str], Item]) -> Item:
    """Return what ``function`` returns; what ``lost`` makes of an exception that is a fault of ours."""
    try:
        return function(given)
    except (InputError, MemoryError, ModuleNotFoundError):  # which is for the user, as the first is
        raise
    except Exception as error:
        if is_starved(error):
            raise
        what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        return lost(given, f"ended with an error that synth did not expect, {one_line(what)}")


@dataclass(frozen=True, slots=True)
class _Over:
    """A task exceeded a limit, that of an option."""

    limit: str


def _within(task: Task, work: Callable[[Task], Iterator[Item]], limits: Limits) -> Iterator[Item | _Over]:
    """A task, as a worker of a cluster does it within limits: by a process of its own."""
    exceeded: list[str] = []
    for result in run_tasks([task], work, 1, limits=limits, over=lambda _, limit: exceeded.append(limit)):
        if result is not None:
            yield result[1]
    yield from map(_Over, exceeded)


def _run_on(
    cluster: Cluster, tasks: Iterable[Task], work: Callable[[Task], Iterator[Item]], poll: float
) -> Generator[tuple[Task, Item] | None, None, None]:
    from concurrent.futures import FIRST_COMPLETED
    from concurrent.futures import wait as wait_for

    waiting: Iterator[Task] = iter(tasks)
    running: dict[Future[Any], Task] = {}
    try:
        while True:
            # One more for each than it is at, so that none has to wait for us; but no more, for tasks may be many.
            for task in islice(waiting, max(0, 2 * cluster.slots - len(running))):
                running[cluster.submit(work, task)] = task
            if not running:
                return
            done, _ = wait_for(running, poll, FIRST_COMPLETED)
            if not done:
                yield None
            for future in [future for future in running if future in done]:
                task = running.pop(future)
                for item in cluster.result(future):
                    yield task, item
    finally:
        for future in running:
            future.cancel()


def map_each(
    function: Callable[[Given], Item],
    given: Sequence[Given],
    jobs: Jobs,
    limits: Limits,
    lost: Callable[[Given, str], Item],
    poll: float = 0.5,
    together: Callable[[Sequence[Given]], Sequence[Item | None]] | None = None,
) -> Generator[Item | None, None, None]:
    """``function`` of each, in order, over ``jobs`` processes; ``lost(x, reason)`` where that exceeds the limits.

    So it is, too, where ``function`` raises another exception than ``InputError``, or one of a library that is not
    there, which end it all: a fault of ours costs what it is about. ``None`` is yielded at least every ``poll`` seconds
    while a result is waited for. A result comes within ``HELD`` seconds; from a cluster, where a process of each worker
    keeps to the limits, in chunks.
    """
    size = max(1, min(CHUNK, -(-len(given) // (4 * (jobs if isinstance(jobs, int) else jobs.slots)))))
    apart = together is None or size == 1
    chunks = [_Chunk(start, given[start : start + size], apart) for start in range(0, len(given), size)]

    def at_once(chunk: _Chunk[Given]) -> Sequence[Item | None]:
        try:
            if together is not None and not chunk.apart:
                return together(chunk.given)
        except Exception as error:  # whose fault it is, ``function`` tells
            if isinstance(error, MemoryError) or is_starved(error):
                raise
        return [None] * len(chunk.given)

    def work(chunk: _Chunk[Given]) -> Iterator[tuple[int, Item] | None]:
        known = at_once(chunk)
        if not chunk.apart:
            yield None  # what is lost from here on is lost by one of them
        for number, (one, done) in enumerate(zip(chunk.given, known, strict=True), chunk.start):
            if done is not None:
                yield number, done
                continue
            yield number, _attempted(function, one, lost)

    def instead(loss: Loss[_Chunk[Given]]) -> Instead[_Chunk[Given], tuple[int, Item] | None]:
        given, start, apart = loss.task.given, loss.task.start, loss.task.apart
        first = 0 if apart else 1  # the None that ``work`` begins with
        if loss.made < first:  # it was at all of them
            return Instead(tasks=[replace(loss.task, apart=True)])
        count, arrived = loss.made - first, max(loss.arrived - first, 0)
        fault = start + count
        made = _Chunk(start + arrived, given[arrived:count], apart)
        if count == len(given):  # it died after its last item
            return Instead(tasks=[made] if made.given else [])
        if not loss.certain and fault not in tried:
            tried.add(fault)
            return Instead(tasks=[_Chunk(made.start, given[arrived:], apart)])
        left = _Chunk(fault + 1, given[count + 1 :], apart)
        tasks = [chunk for chunk in (made, left) if chunk.given]
        return Instead([(fault, lost(given[count], loss.reason))], tasks)

    tried: set[int] = set()
    early: dict[int, Item] = {}
    due = 0
    if isinstance(jobs, int):
        results = run_tasks(chunks, work, jobs, poll, limits, instead, HELD)
    else:
        mapped = partial(_mapped, function=function, limits=limits, lost=lost, together=together)
        results = run_tasks(chunks, mapped, jobs, poll)
    for result in results:
        if result is None:
            yield None
            continue
        if result[1] is None:
            continue
        number, item = result[1]
        early[number] = item
        while due in early:
            yield early.pop(due)
            due += 1


CHUNK = 100
"""Items that are sent to a process at once."""

HELD = 0.1
"""Seconds that a result is held back at most, for others to come with it."""

ALONE = 0.05
"""Seconds that the first process works alone at what is quick: to start and end one more takes 0.02."""


@dataclass(frozen=True, slots=True)
class _Chunk(Generic[Given]):
    start: int
    given: Sequence[Given]
    apart: bool  # each is done by itself


def _mapped(
    chunk: _Chunk[Given],
    function: Callable[[Given], Item],
    limits: Limits,
    lost: Callable[[Given, str], Item],
    together: Callable[[Sequence[Given]], Sequence[Item | None]] | None,
) -> Iterator[tuple[int, Item]]:
    """A chunk, as a worker of a cluster does it: by a process of its own."""
    found = map_each(function, chunk.given, 1, limits, lost, together=together)
    items = (item for item in found if item is not None)
    yield from enumerate(items, chunk.start)


@dataclass(eq=False, slots=True)
class _Worker:
    """A process, and what it is at."""

    process: BaseProcess
    connection: Connection
    shared: Shared  # what both see: how many items of its task it has made, and what it waits for
    task: Any = None
    arrived: int = 0  # of these
    before: int = 0  # items of earlier tasks

    def message(self) -> object:
        """What it says next; None where it has died."""
        try:
            return self.connection.recv()
        except (EOFError, OSError):
            return None


_ends: set[Connection] = set()
"""This process's ends of the connections to all its workers, whatever crew they are of."""


class _Crew:
    """The processes of a run. They are forked when there is work for them, so they know what their parent does."""

    def __init__(self, work: Callable[[Any], Iterator[Any]], limits: Limits, held: float) -> None:
        self.work = work
        self.held = held
        self.limits = limits
        self.busy: dict[Connection, _Worker] = {}
        self.idle: list[_Worker] = []
        workers.append(self.steps)

    def steps(self) -> list[str]:
        """What each worker waits for now, in words; nothing of one that waits for nothing."""
        return [worker.shared.step for worker in self.busy.values() if worker.shared.step]

    def begin(self, task: object, fresh: bool = False) -> None:
        """Give a task to a worker that is free, or to a new one."""
        while self.idle and not fresh:
            worker = self.idle.pop()
            worker.shared.begin()
            try:
                worker.connection.send(task)
            except OSError:  # it died while it had nothing to do
                _end(worker)
                continue
            break
        else:
            worker = self._hire()
            with suppress(OSError):  # it has died already: that is seen as soon as it is waited for
                worker.connection.send(task)
        worker.task, worker.arrived = task, 0
        self.busy[worker.connection] = worker

    def release(self, worker: _Worker) -> None:
        """Mark a worker as idle, since it has done its task."""
        del self.busy[worker.connection]
        worker.before += worker.arrived
        self.idle.append(worker)

    def bury(self, worker: _Worker, message: object) -> Loss[Any]:
        """It is no more; what that costs, and why."""
        del self.busy[worker.connection]
        starved = isinstance(message, Starved)
        if starved:
            reason = _starved(self.limits)
        else:
            worker.process.join()
            reason = _cause(worker.process.exitcode or 0, self.limits)
        code = worker.process.exitcode
        limit = ""
        if code == -signal.SIGALRM and self.limits.seconds:
            limit = TIMEOUT
        elif self.limits.megabytes and (starved or code == -signal.SIGABRT):
            limit = MEMORY
        made = worker.shared.made
        certain = code == -signal.SIGALRM or (worker.before + made == 0 and code != -signal.SIGKILL)
        _end(worker)
        return Loss(worker.task, worker.arrived, made, reason, certain, limit)

    def dismiss(self) -> None:
        """End every worker process of the crew at once."""
        workers.remove(self.steps)
        for worker in (*self.busy.values(), *self.idle):
            _end(worker)

    def _hire(self) -> _Worker:
        context = get_context("fork")
        with held_back():
            mine, theirs = context.Pipe()
            _ends.add(mine)
            shared = Shared()
            given = (os.getpid(), theirs, shared, list(_ends), self.work, self.limits, self.held)
            process = context.Process(target=serve, args=given, daemon=True)
            process.start()
            theirs.close()
            return _Worker(process, mine, shared)


def _end(worker: _Worker) -> None:
    worker.process.kill()  # not terminate: code that is not Python would answer late, or never
    worker.process.join()
    _ends.discard(worker.connection)
    worker.connection.close()


def _starved(limits: Limits) -> str:
    return f"needs more than {limits.megabytes} MB" if limits.megabytes else "needs more memory than there is"


def _cause(code: int, limits: Limits) -> str:
    """Why a process ended with this code. C++ aborts where it gets no memory, and Linux kills where there is none."""
    if code == -signal.SIGALRM and limits.seconds:
        return f"needs more than {limits.seconds:g} s"
    if code >= 0:
        return f"ended its process with exit code {code}"
    hint = ""
    if code == -signal.SIGABRT and limits.megabytes:
        hint = f", perhaps for want of more than {limits.megabytes} MB"
    elif code == -signal.SIGKILL:
        hint = ", perhaps for want of memory"
        hint += f": it may take {limits.megabytes} MB" if limits.megabytes else ""
    return f"ended its process with {signal.Signals(-code).name}{hint}"
