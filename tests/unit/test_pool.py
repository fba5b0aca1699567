"""Work spread over processes."""

from __future__ import annotations

import faulthandler
import os
import signal
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from multiprocessing import active_children
from multiprocessing.context import ForkProcess
from pathlib import Path

import pytest

from corpus.errors import InputError
from synth.pool import LostError, map_each, resumable, run_tasks
from synth.worker import Limits


def count(task: int) -> Iterator[tuple[int, int]]:
    """As many items as the task's number, each with the process that made it."""
    for item in range(task):
        yield item, os.getpid()


def gathered(tasks: list[int], jobs: int) -> dict[int, list[int]]:
    items = defaultdict(list)
    for result in run_tasks(tasks, count, jobs):
        if result is not None:
            task, (item, process) = result
            assert process != os.getpid()
            items[task].append(item)
    return dict(items)


@pytest.mark.parametrize("jobs", [0, 1, 2, 3, 9])
@pytest.mark.parametrize("tasks", [[], [3], [1, 2, 3, 4, 5, 60], [0, 7, 0]], ids=str)
def test_every_item_of_every_task_arrives_once_and_in_order(tasks, jobs):
    assert gathered(tasks, jobs) == {task: list(range(task)) for task in tasks if task}
    assert active_children() == []


def test_one_process_works_in_order():
    assert [task for task, _ in filter(None, run_tasks([2, 1, 3], count, 1))] == [2, 2, 1, 3, 3, 3]


def test_items_arrive_while_a_task_goes_on():
    def slow(task: int) -> Iterator[str]:
        yield "first"
        time.sleep(60)

    results = run_tasks([1, 2], slow, 2)
    assert {next(results), next(results)} == {(1, "first"), (2, "first")}
    results.close()
    assert active_children() == []


def test_the_caller_can_watch_a_clock():
    def slow(task: int) -> Iterator[str]:
        time.sleep(60)
        yield "late"

    results = run_tasks([1, 2], slow, 2, poll=0.01)
    assert [next(results) for _ in range(3)] == [None] * 3
    results.close()
    assert active_children() == []


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_error_in_a_worker_is_raised_here(jobs):
    def fail(task: int) -> Iterator[int]:
        yield task
        raise InputError("no such thing", "file", line=task)

    with pytest.raises(InputError, match=r"file:7: no such thing"):
        list(run_tasks([7], fail, jobs))
    assert active_children() == []


def test_one_process_can_be_watched_as_many_can():
    results = run_tasks([60], sleep, 1, poll=0.01)
    assert [next(results) for _ in range(3)] == [None] * 3
    results.close()
    assert active_children() == []


def test_work_at_which_processes_die_is_given_up_in_one_line():
    def die(task: int) -> Iterator[int]:
        yield task
        os.kill(os.getpid(), signal.SIGKILL)

    with pytest.raises(LostError, match="failed twice: it ended its process with SIGKILL"):
        list(run_tasks([1, 2, 3], die, 2))
    assert active_children() == []


@pytest.mark.parametrize("jobs", [1, 2])
def test_work_at_which_a_process_dies_once_is_done_again_by_one_that_knows_more(jobs):
    known = []

    def die_once(task: int) -> Iterator[int]:
        for item in range(4):
            if item not in known:
                yield item
            if task == 1 and item == 2 and not known:
                os.kill(os.getpid(), signal.SIGKILL)

    for task, item in filter(None, run_tasks([0, 1, 2], die_once, jobs)):
        if task == 1:
            known.append(item)
    assert known == [0, 1, 2, 3]


# Limits


def sleep(seconds: float) -> Iterator[float]:
    time.sleep(seconds)
    yield seconds


def misbehave(what: str) -> str:
    """The name of what happened, where anything is left to say so."""
    faulthandler.disable()  # which would say on standard error what is meant to happen
    if what == "sleep":
        time.sleep(60)
    elif what == "spin":  # in code that is not Python: no bytecode ends, so no signal handler would run
        sum(range(10**11))
    elif what == "allocate":
        held = [bytearray(2**24)]
        while True:
            held.append(bytearray(2**24))
    elif what == "thrash":
        bytearray(2**40)
    elif what == "abort":
        os.abort()
    elif what == "exit":
        os._exit(7)
    elif what == "error":
        raise KeyError("what")
    elif what.isupper():
        os.kill(os.getpid(), getattr(signal, what))
    return what.upper()


SLOW = Limits(0.5), {"sleep": "needs more than 0.5 s", "spin": "needs more than 0.5 s"}
LARGE = (
    Limits(60, 200),
    {
        "allocate": "needs more than 200 MB",
        "thrash": "needs more than 200 MB",
        "abort": "ended its process with SIGABRT, perhaps for want of more than 200 MB",
        "exit": "ended its process with exit code 7",
        "SIGKILL": "ended its process with SIGKILL, perhaps for want of memory: it may take 200 MB",
        "error": "ended with an error that synth did not expect, KeyError: 'what'",
        "SIGSEGV": "ended its process with SIGSEGV",
    },
)


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("chunks", [1, 100])
@pytest.mark.parametrize(("limits", "reasons"), [SLOW, LARGE], ids=["slow", "large"])
def test_what_exceeds_its_limits_costs_itself_alone(monkeypatch, jobs, chunks, limits, reasons):
    monkeypatch.setattr("synth.pool.CHUNK", chunks)
    given = [f"{letter}{what}" if letter else what for what in reasons for letter in ("", "good ", "fine ")]
    results = map_each(misbehave, given, jobs, limits, lambda what, reason: f"{what} {reason}")
    expected = [f"{what} {reasons[what]}" if what in reasons else what.upper() for what in given]
    assert [result for result in results if result is not None] == expected
    assert active_children() == []


def test_workers_that_cannot_be_started_are_done_without(monkeypatch):
    """The second process is refused, as where there are too many; what it was to do is done by the first."""
    start, started = ForkProcess.start, []

    def one(process: ForkProcess) -> None:
        if started:
            raise BlockingIOError(11, "Resource temporarily unavailable")
        started.append(process)
        start(process)

    monkeypatch.setattr(ForkProcess, "start", one)
    assert sorted(gathered([1, 2, 3, 4], 3)) == [1, 2, 3, 4]
    with pytest.raises(InputError, match="no process can be started: Resource temporarily unavailable"):
        list(run_tasks([1], count, 1))


def test_a_worker_that_dies_before_its_task_arrives_costs_nothing(monkeypatch):
    start, deaths = ForkProcess.start, []

    def frail(process: ForkProcess) -> None:
        start(process)
        if not deaths:
            deaths.append(process)
            process.kill()
            process.join()

    monkeypatch.setattr(ForkProcess, "start", frail)
    results = map_each(str, range(10), 2, Limits(60, 4096), lambda number, reason: reason)
    assert [result for result in results if result is not None] == list(map(str, range(10)))
    assert deaths and active_children() == []


def test_where_memory_runs_out_a_worker_goes_first():
    def score(task: int) -> Iterator[str]:
        yield Path("/proc/self/oom_score_adj").read_text().strip()

    assert [score for _, score in filter(None, run_tasks([1], score, 1))] == ["1000"]
    assert Path("/proc/self/oom_score_adj").read_text().strip() != "1000"


def test_what_an_earlier_item_left_in_memory_is_not_held_against_a_later_one():
    held = []

    def hold(megabytes: int) -> int:
        held.append(bytearray(megabytes * 2**20))
        return megabytes

    results = map_each(hold, [90, 90, 90, 900, 90], 1, Limits(None, 200), lambda size, reason: -size)
    assert [result for result in results if result is not None] == [90, 90, 90, -900, 90]


def test_a_process_that_is_ended_from_outside_loses_nothing():
    def who(number: int) -> tuple[int, int]:
        time.sleep(0.001)
        return number, os.getpid()

    found = []
    for result in map_each(who, range(300), 2, Limits(60, 4096), lambda number, reason: (number, 0)):
        if result is not None:
            number, process = result
            found.append(number)
            if number in (50, 150):
                os.kill(process, signal.SIGKILL)
    assert found == list(range(300))
    assert active_children() == []


def test_waiting_for_the_reader_costs_no_time():
    results = map_each(lambda number: "x" * 10**5, range(20), 1, Limits(0.5), lambda number, reason: reason)
    assert next(results)
    time.sleep(1.5)
    assert all(len(result) == 10**5 for result in results if result is not None)


def test_workers_leave_ctrl_c_to_their_parent():
    def interrupted(task: int) -> Iterator[int]:
        os.kill(os.getpid(), signal.SIGINT)
        yield task

    assert sorted(filter(None, run_tasks([1, 2], interrupted, 2))) == [(1, 1), (2, 2)]


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize(("limits", "option"), [(Limits(0.5, whole=True), "--timeout"), (Limits(60, 100), "--memory")])
def test_a_task_that_exceeds_a_limit_is_left_and_the_others_are_done(jobs, limits, option):
    def work(task: int) -> Iterator[str]:
        held = []
        for number in range(3 if task else 100):  # each item within the limits
            yield f"{task}.{number}"
            if not task:
                time.sleep(0.1)
                held.append(bytearray(2**24))

    left: list[tuple[int, str]] = []
    found = run_tasks([0, 1, 2], work, jobs, limits=limits, over=lambda task, limit: left.append((task, limit)))
    items = {item for _, item in filter(None, found)}
    assert left == [(0, option)]
    assert {"0.0", "1.0", "1.2", "2.2"} <= items and "0.99" not in items
    assert active_children() == []


def test_what_is_lost_says_what_is_kept():
    with pytest.raises(LostError) as caught, resumable(kept=False):
        raise LostError("gone", "here")
    assert str(caught.value) == "here: gone"
    with pytest.raises(InputError) as kept, resumable():
        raise LostError("gone", "here")
    assert str(kept.value) == "here: gone; what was found before is kept, and the same command goes on"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends the children of a process that was killed")
def test_workers_end_with_their_parent_whatever_they_are_at():
    read, write = os.pipe()
    parent = os.fork()
    if not parent:

        def long(task: int) -> Iterator[int]:
            os.write(write, b"%d\n" % os.getpid())
            time.sleep(600)
            yield task

        next(filter(None, run_tasks([1], long, 1)))
    worker = int(os.read(read, 20))
    os.kill(parent, signal.SIGKILL)
    os.waitpid(parent, 0)
    while Path(f"/proc/{worker}").exists() and "\nState:\tZ" not in Path(f"/proc/{worker}/status").read_text():
        time.sleep(0.01)
    os.close(read)
    os.close(write)


def test_what_is_done_together_is_not_done_again():
    def together(numbers):
        return [-number if number % 3 else None for number in numbers]

    results = map_each(abs, range(1000), 2, Limits(60, 4096), lambda number, reason: reason, together=together)
    assert [result for result in results if result is not None] == [n if n % 3 == 0 else -n for n in range(1000)]


@pytest.mark.parametrize("wrong", ["raise", "sleep", "allocate", "abort"])
def test_where_a_chunk_cannot_be_done_together_each_is_done_by_itself(wrong):
    def together(numbers):
        if 150 not in numbers:
            return [-number for number in numbers]
        match wrong:
            case "raise":
                raise ValueError
            case "sleep":
                time.sleep(60)
            case "allocate":
                bytearray(2**30)
            case "abort":
                os.abort()
        return [0] * len(numbers)

    results = map_each(abs, range(1000), 2, Limits(1, 200), lambda number, reason: reason, together=together)
    found = [result for result in results if result is not None]
    assert found == [number if 100 <= number < 200 else -number for number in range(1000)]


def test_what_is_slow_by_itself_is_tried_once_though_it_is_the_first_of_a_chunk(tmp_path):
    tried = tmp_path / "tried"

    def alone(number):
        if number == 0:
            with tried.open("a") as file:
                file.write("tried\n")
            time.sleep(60)
        return number

    limits = Limits(0.5)
    results = map_each(
        alone, range(300), 1, limits, lambda number, reason: -1, together=lambda some: [None] * len(some)
    )
    assert [result for result in results if result is not None] == [-1, *range(1, 300)]
    assert tried.read_text() == "tried\n"


def test_of_what_is_done_together_one_that_is_slow_costs_itself_alone():
    def alone(number):
        if number == 7:
            time.sleep(60)
        return number

    def together(numbers):
        return [None if number == 7 else -number for number in numbers]

    results = map_each(alone, range(300), 2, Limits(1, 200), lambda number, reason: 1000, together=together)
    assert [result for result in results if result is not None] == [1000 if n == 7 else -n for n in range(300)]
