"""Campaigns of trials on one device: parallel, in shards, repeated, or until a time limit.

A *job* is a trial that has not been made, or several that are built together, with the function that makes them. Each
of several threads has a ``Runner`` and takes the next job that is left. So a trial that hangs, or a process that dies,
costs no other trial. Results come back to one thread, which writes them as they come. On a cluster, each job is a task,
done by a worker on its own device, whose description must be equal to that of the campaign.

*Shards* split the tests of a campaign over machines: test k of n shards is in shard ``k mod n``, so that each shard has
tests of all kinds, and together the shards have all tests. ``synth import`` merges their results.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import partial
from itertools import takewhile
from queue import Queue
from threading import Event, Lock, Thread
from typing import Generic, Protocol, TypeVar

from backends.shared.device import Device, Prepared, Runner, batches
from backends.shared.layout import Layout
from backends.shared.mapping import Launch
from backends.shared.process import Run, RunError, end_all
from backends.shared.results import MemoryTrial, ProgressTrial, Result, ResultFile, Times, TryEffort
from corpus.awaited import awaiting
from corpus.errors import InputError
from synth.pool import Cluster, run_tasks
from synth.watch import watching

Item = TypeVar("Item")
Trial = ProgressTrial | MemoryTrial
Shape = Launch | Layout

RERUN = ("missing", "failed", "hung", "all")
"""The choices of which trials are made: those without any line (``missing``), those that failed last, those that hung,
or all. Without a choice, those without a result are made, the failed ones too.
"""


@dataclass(frozen=True, slots=True)
class Shard:
    """Shard ``number`` (counted from 1) of a campaign that is split into ``of`` shards."""

    number: int = 1
    of: int = 1

    @staticmethod
    def parse(text: str) -> Shard:
        """Parse a shard such as ``1/3``. Raises ``InputError`` where the text is no shard."""
        found = re.fullmatch(r"([0-9]{1,9})/([0-9]{1,9})", text)
        if found is None or not 1 <= int(found[1]) <= int(found[2]):
            raise InputError(f"--shard: expected i/n with 1 <= i <= n, such as 1/3, found '{text}'")
        return Shard(int(found[1]), int(found[2]))

    def part(self, items: Sequence[Item]) -> list[Item]:
        """Return the items of a campaign that belong to this shard."""
        return list(items[self.number - 1 :: self.of])


@dataclass(frozen=True, slots=True)
class Workers:
    """A cluster whose machines have a device each; ``opened`` opens the device on such a machine."""

    cluster: Cluster
    opened: Callable[[], Device]


@dataclass(frozen=True, slots=True)
class Campaign:
    """How the trials of a campaign are made.

    ``jobs`` trials run at a time, or as many as a cluster has workers. ``rerun`` says which are made again (see
    ``RERUN``), and no trial begins after ``limit`` seconds.
    """

    jobs: int | Workers = 1
    shard: Shard = Shard()
    rerun: str | None = None
    limit: float | None = None

    def is_due(self, trial: Trial, file: ResultFile, accuses: Callable[[], bool] = lambda: False) -> bool:
        """Return whether a trial is to be made, given the results that a file has of it.

        ``accuses``: a hang of this trial contradicts a model, and so has to be confirmed.
        """
        result, failed = file.results.get(trial), trial in file.failures
        match self.rerun:
            case "all":
                return True
            case "missing":
                return result is None and not failed
            case "failed":
                return failed
            case "hung":
                return result is not None and result.hangs
        return result is None or failed or (result.hangs and not result.confirmed and accuses())


ALONE = Campaign()
"""The campaign that makes one trial at a time, and all that are due."""


Made = tuple[Result, Times] | InputError | RunError
"""The result of a trial: its result and wall times; or why the language cannot say the test, or why it could not be
run.
"""


class DueTrial(Protocol):
    """The interface of a trial that may be due, with the ``shape`` in which its test is launched. It can be pickled.

    ``name`` is what a run prints for it, and no other trial of the run has that name.
    """

    @property
    def name(self) -> str: ...  # noqa: D102

    @property
    def trial(self) -> Trial: ...  # noqa: D102

    @property
    def shape(self) -> Shape: ...  # noqa: D102

    def files(self) -> Mapping[str, str]:
        """Return the program of the test. Raises ``InputError`` where the language cannot say it."""

    def result(self, run: Run) -> Result:
        """Return the result of a run."""


AnyDue = TypeVar("AnyDue", bound=DueTrial)


@dataclass(frozen=True, slots=True)
class Job(Generic[Item]):
    """The trials of tests that are built together, or of one test. ``make`` yields the results as they come."""

    items: Sequence[Item]
    make: Callable[[Runner], Iterator[tuple[Item, Made]]]


def jobs_of(items: Sequence[AnyDue], limits: Sequence[float], device: Device, campaign: Campaign) -> list[Job[AnyDue]]:
    """Return the jobs of trials that are due, each of what is built together.

    ``limits`` are the seconds that an iteration of each may take. Raises ``InputError`` for a launch that cannot be.
    """
    at_a_time = campaign.jobs if isinstance(campaign.jobs, int) else _AHEAD * campaign.jobs.cluster.slots
    cut = batches(device, [item.shape for item in items], at_a_time)
    together = [[(items[number], limits[number]) for number in numbers] for numbers in cut]
    return [Job([item for item, _ in batch], partial(_made, limited=batch)) for batch in together]


_AHEAD = 4
"""The number of jobs that a worker's share is cut into, so that no worker is left with the slow ones."""


def _made(runner: Runner, limited: Sequence[tuple[AnyDue, float]]) -> Iterator[tuple[AnyDue, Made]]:
    """Make trials that are built together, and yield each with its result."""
    written = list[tuple[AnyDue, float, Mapping[str, str]]]()
    for item, limit in limited:
        try:
            written.append((item, limit, item.files()))
        except InputError as error:
            yield item, error
    with runner.prepared([(files, item.shape) for item, _, files in written]) as programs:
        for (item, limit, files), program in zip(written, programs, strict=True):
            try:
                with awaiting(f"{item.name} on {runner.device.name}"):
                    run = _ran(runner, item, limit, files, program, len(written) > 1)
                tries = (effort([run], limit),) if run.hangs else ()
                yield item, (item.result(run), Times(run.seconds, limit, tries))
            except (InputError, RunError) as error:
                yield item, error


def effort(runs: Sequence[Run], limit: float) -> TryEffort:
    """Return the effort of a try that has just ended."""
    load = round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None
    seconds, cpu = sum(sum(run.seconds) for run in runs), [run.cpu for run in runs if run.cpu is not None]
    return TryEffort(limit=limit, seconds=round(seconds, 6), cpu=round(sum(cpu), 2) if cpu else None, load=load)


def _ran(
    runner: Runner, due: DueTrial, limit: float, files: Mapping[str, str], program: Prepared | RunError, again: bool
) -> Run:
    """Return the run of a program; ``again``: where it fails, run it once more, built alone. Raises ``RunError``."""
    if isinstance(program, RunError):  # the program was built alone already
        raise program
    trial = due.trial
    every = isinstance(trial, ProgressTrial) and trial.every_iteration
    try:
        return runner.watch(program, trial.iterations, limit, every)
    except RunError:
        if not again:
            raise
        return runner.run(files, due.shape, trial.iterations, limit, every)


def conducted(
    jobs: Sequence[Job[Item]], device: Device, campaign: Campaign, done: int = 0
) -> Generator[tuple[Item, Made]]:
    """Make all trials of some jobs, and yield each with its result when it ends; with one at a time, in order.

    Jobs that have not begun when time is up yield nothing. ``done`` trials were made before, and count in the progress
    that is shown. When the caller stops asking, the trials that run are ended.
    """
    until = None if campaign.limit is None else time.monotonic() + campaign.limit
    total = done + sum(len(job.items) for job in jobs)
    if isinstance(campaign.jobs, int):
        results = _by_threads(jobs, device, campaign.jobs, until)
    else:
        results = _by_cluster(jobs, device, campaign.jobs, until)
    with closing(results), watching("Running", found=False) as watch:
        watch(done, total, 0)
        for entry in results:
            if entry is not None:
                done += 1
                yield entry
            watch(done, total, 0)


def _is_over(until: float | None) -> bool:
    return until is not None and time.monotonic() > until


def _by_threads(
    jobs: Sequence[Job[Item]], device: Device, number: int, until: float | None
) -> Generator[tuple[Item, Made] | None]:
    queue: Queue[tuple[Item, Made] | BaseException | None] = Queue()
    left, lock, stopped = iter(jobs), Lock(), Event()
    runners = list[Runner]()

    def over() -> bool:
        return stopped.is_set() or _is_over(until)

    def following() -> Job[Item] | None:
        with lock:
            return next(left, None)

    def work() -> None:
        try:
            with Runner(device) as runner:
                runners.append(runner)
                while not over() and (job := following()) is not None:
                    for result in job.make(runner):
                        queue.put(result)
                        if over():
                            break
        except BaseException as error:  # the caller receives every error
            queue.put(error)
        finally:
            queue.put(None)

    threads = [Thread(target=work, daemon=True) for _ in range(min(number, len(jobs)))]
    try:
        for thread in threads:
            thread.start()
        working = len(threads)
        while working:
            entry = queue.get()
            if entry is None:
                working -= 1
            elif isinstance(entry, BaseException):
                raise entry
            else:
                yield entry
    finally:
        stopped.set()
        for runner in runners:
            runner.is_stopped = True
        while any(thread.is_alive() for thread in threads):
            end_all()
            for thread in threads:
                with suppress(RuntimeError):  # the thread was never started
                    thread.join(0.1)


def _by_cluster(
    jobs: Sequence[Job[Item]], device: Device, workers: Workers, until: float | None
) -> Generator[tuple[Item, Made] | None]:
    work = partial(_made_there, opened=workers.opened, words=_words(device))
    begun = takewhile(lambda _: not _is_over(until), jobs)
    with closing(run_tasks(begun, work, workers.cluster)) as results:
        for result in results:
            yield result and result[1]


def _made_there(job: Job[Item], opened: Callable[[], Device], words: tuple[str, ...]) -> Iterator[tuple[Item, Made]]:
    """Do a job as a worker of a cluster. Raises ``InputError`` where the worker has another device."""
    device = opened()
    if _words(device) != words:
        raise InputError(f"a worker of the cluster has another device: {', '.join(filter(None, _words(device)))}")
    with Runner(device) as runner:
        yield from job.make(runner)


def _words(device: Device) -> tuple[str, ...]:
    return device.name, device.hardware, device.driver, device.compiler


def limit_message(left: int, campaign: Campaign) -> str:
    """Return the message on trials that were not begun because of the time limit."""
    assert campaign.limit is not None
    return f"{left} not run: the time limit of {campaign.limit:g} seconds was reached; the same command goes on"
