"""Campaigns: what is due, what is in a shard, and that no trial that goes wrong costs another."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import asdict
from msgspec.structs import replace as changed

from backends.shared.device import Runner
from backends.shared.process import RunError
from backends.shared.results import (
    Entry,
    ProgressFailure,
    ProgressResult,
    ProgressTrial,
    ResultFile,
    open_results,
)
from corpus.errors import InputError
from synth.campaigns import ALONE, Campaign, Job, Made, Shard, conducted

TRIAL = ProgressTrial(
    test="t",
    digest="00",
    backend="toy",
    device="a toy",
    mapping="plain",
    instances=1,
    iterations=2,
    timeout=1.0,
    every_iteration=False,
)


def result(trial: ProgressTrial, outcomes: str = "TT") -> ProgressResult:
    return ProgressResult(**asdict(trial), outcomes=outcomes)


def alone(item: str, make: Callable[[Runner], tuple[Entry, Sequence[float]]]) -> Job[str]:
    def made(runner: Runner) -> Iterator[tuple[str, Made]]:
        try:
            yield item, make(runner)
        except (InputError, RunError) as error:
            yield item, error

    return Job([item], made)


def job(name: str, error: Exception | None = None, seconds: float = 0.0) -> Job[str]:
    def make(runner: Runner) -> tuple[Entry, Sequence[float]]:
        time.sleep(seconds)
        if error is not None:
            raise error
        return result(changed(TRIAL, test=name)), (seconds,)

    return alone(name, make)


def ran(jobs: Sequence[Job[str]], campaign: Campaign = ALONE) -> dict[str, Any]:
    device: Any = None  # these jobs ask nothing of it
    return dict(conducted(jobs, device, campaign))


@given(st.integers(0, 40), st.integers(1, 9))
def test_shards_are_the_whole_and_share_nothing(tests: int, of: int) -> None:
    parts = [Shard(number, of).part(range(tests)) for number in range(1, of + 1)]
    assert sorted(test for part in parts for test in part) == list(range(tests))
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


@pytest.mark.parametrize("text", ["0/3", "4/3", "1", "1/0", "a/b", "1/3/3", "-1/3", "1/9999999999"])
def test_what_is_no_shard(text: str) -> None:
    with pytest.raises(InputError, match="expected i/n"):
        Shard.parse(text)
    assert Shard.parse("2/3") == Shard(2, 3)


@pytest.mark.parametrize("jobs", [1, 3])
def test_one_that_goes_wrong_costs_itself(jobs: int) -> None:
    wrong = [job("crashes", RunError("it crashed")), job("unsayable", InputError("no words"))]
    made = ran([job("a"), *wrong, job("b"), job("c")], Campaign(jobs=jobs))
    assert isinstance(made.pop("crashes"), RunError) and isinstance(made.pop("unsayable"), InputError)
    assert {name: entry.test for name, (entry, _) in made.items()} == {"a": "a", "b": "b", "c": "c"}


def test_one_at_a_time_they_come_in_their_order() -> None:
    assert list(ran([job(str(number)) for number in range(20)])) == [str(number) for number in range(20)]


def test_several_at_a_time() -> None:
    together = threading.Barrier(3)

    def make(runner: Runner) -> tuple[Entry, Sequence[float]]:
        together.wait(30)
        return result(TRIAL), ()

    assert set(ran([alone(name, make) for name in "abc"], Campaign(jobs=3))) == set("abc")


def test_a_fault_of_ours_is_not_swallowed() -> None:
    with pytest.raises(ZeroDivisionError):
        ran([job("a", ZeroDivisionError())])


def test_none_is_begun_after_the_limit() -> None:
    made = ran([job("a", seconds=0.2), job("b")], Campaign(limit=0.1))
    assert list(made) == ["a"]


def test_who_stops_asking_ends_it() -> None:
    device: Any = None
    for made, _ in conducted([job(str(number), seconds=0.01) for number in range(1000)], device, Campaign(jobs=2)):
        assert int(made) < 100
        break
    until = time.monotonic() + 30
    while threading.active_count() >= 5 and time.monotonic() < until:
        time.sleep(0.01)
    assert threading.active_count() < 5


@pytest.fixture
def file(tmp_path: Path) -> Any:
    with open_results(tmp_path / "results.jsonl") as found:
        for name, outcomes in (("good", "TT"), ("hung", "TH"), ("mended", "TT")):
            found.add(result(changed(TRIAL, test=name), outcomes))
        failed = ProgressFailure(**asdict(changed(TRIAL, test="failed")), error="it crashed")
        found.add(failed)
        found.add(changed(failed, test="worse"))
        found.add(result(changed(TRIAL, test="worse")))
        yield found


@pytest.mark.parametrize(
    ("rerun", "due"),
    [
        (None, {"failed", "new"}),
        ("missing", {"new"}),
        ("failed", {"failed"}),
        ("hung", {"hung"}),
        ("all", {"good", "hung", "mended", "failed", "worse", "new"}),
    ],
)
def test_what_is_due(rerun: str | None, due: set[str], file: ResultFile) -> None:
    campaign = replace(ALONE, rerun=rerun)
    names = ("good", "hung", "mended", "failed", "worse", "new")
    assert {name for name in names if campaign.is_due(changed(TRIAL, test=name), file)} == due
