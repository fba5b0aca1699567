"""Work spread over processes."""

from __future__ import annotations

import os
import signal
import time
from collections import defaultdict
from collections.abc import Iterator
from multiprocessing import active_children

import pytest

from corpus.errors import InputError
from synth.pool import run_tasks


def count(task: int) -> Iterator[tuple[int, int]]:
    """As many items as the task's number, each with the process that made it."""
    for item in range(task):
        yield item, os.getpid()


def gathered(tasks: list[int], jobs: int) -> dict[int, list[int]]:
    items = defaultdict(list)
    for result in run_tasks(tasks, count, jobs):
        if result is not None:
            task, (item, process) = result
            assert (process == os.getpid()) == (jobs <= 1)
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


def test_a_worker_that_dies_is_noticed():
    def die(task: int) -> Iterator[int]:
        yield task
        os.kill(os.getpid(), signal.SIGKILL)

    with pytest.raises(RuntimeError, match="a worker process died"):
        list(run_tasks([1, 2, 3], die, 2))
    assert active_children() == []


def test_workers_leave_ctrl_c_to_their_parent():
    def interrupted(task: int) -> Iterator[int]:
        os.kill(os.getpid(), signal.SIGINT)
        yield task

    assert sorted(filter(None, run_tasks([1, 2], interrupted, 2))) == [(1, 1), (2, 2)]
