"""Which hangs count: slow devices, stuck ones, and such that do let a test hang."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from fakes.slow import SlowDevice
from fakes.slow_program import launches

import synth.hangs
from backends.registry import BACKENDS
from backends.shared import process
from backends.shared.hosting import WARM_UP
from backends.shared.results import (
    MemoryResult,
    ProgressResult,
    print_result,
    read_results,
    read_times,
)
from synth.commands.cli import main

WAITS = "THREAD 0\n0: if (Mem[0] == 0) goto 0;\nTHREAD 1\n0: Mem[0] = 1;\n"
"""It terminates under fairness, and HSA lets it hang."""

LITMUS = (
    "C {}\n{{ }}\nP0 (atomic_int* x) {{ int r0 = atomic_load_explicit(x, memory_order_relaxed); }}\nexists (0:r0 = 0)\n"
)


class Bench:
    """Commands that run tests on a device that behaves as it is told."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.folder, self._patch = folder, patch
        patch.setattr(synth.hangs, "RUNS", 1)
        self.log, self.results = folder / "log", folder / "results.jsonl"

    def run(self, behaviour: dict[str, Any], tests: Sequence[str], *options: object) -> Result:
        """Run tests of these names; those that begin with ``m`` are memory tests."""
        toy = replace(BACKENDS["cpp"], name="toy", device=lambda _: SlowDevice(behaviour, self.log))
        self._patch.setitem(BACKENDS, "cpp", replace(toy, name="cpp"))
        for name in tests:
            memory = name.startswith("m")
            (self.folder / name).with_suffix(".litmus" if memory else ".axb").write_text(
                LITMUS.format(name) if memory else WAITS
            )
        files = [str(each) for name in tests for each in sorted(self.folder.glob(f"{name}.*"))]
        words = ["run", *files, "--backend", "cpp", "--iterations", 3, "-o", self.results, *options]
        words += [] if files[0].endswith(".litmus") else ["--mapping", "plain"]
        return CliRunner().invoke(main, [str(word) for word in words], catch_exceptions=False)

    def seen(self) -> dict[str, Any]:
        """The results, the last of each test."""
        return {
            each.test: each for each in read_results(self.results) if isinstance(each, ProgressResult | MemoryResult)
        }


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    return Bench(tmp_path, monkeypatch)


@pytest.fixture
def sooner(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tries with less time, where it is known that they hang."""
    monkeypatch.setattr(synth.hangs, "AGAIN", (1, 3))


FAIR = ("--sound", "fair")


@pytest.mark.one_in(2)
@pytest.mark.parametrize("test", ["a", "m"])
def test_what_the_first_launch_takes_is_no_hang(bench: Bench, test: str) -> None:
    """As that of PoCL, which compiles a kernel when it is first launched."""
    done = bench.run({"first": 2.5}, [test], "--timeout", 2)
    assert done.exit_code == 0, done.output
    result = bench.seen()[test]
    assert not result.hangs and not result.tries
    assert [each.iteration for each in launches(bench.log) if each.test == test] == [WARM_UP, 0, 1, 2]


def test_time_outs_are_measured(bench: Bench) -> None:
    """Twenty times what the control takes, and a limit that is no fact goes to the times."""
    assert bench.run({"each": 0.25}, ["a", "b"], *FAIR).exit_code == 0
    for test in "ab":
        result = bench.seen()[test]
        assert (result.outcomes, result.timeout, result.tries) == ("TTT", None, ())
    for times in read_times(bench.results):
        assert times.limit is not None and times.limit >= 5
    before = bench.log.read_bytes()
    assert bench.run({"each": 0.25}, ["a", "b"], *FAIR).exit_code == 0
    assert bench.log.read_bytes() == before  # nothing is due, and so nothing is measured


def test_a_time_out_that_is_too_short_is_told(bench: Bench) -> None:
    done = bench.run({"each": 0.3}, ["a", "b"], "--timeout", 0.1, *FAIR)
    assert done.exit_code == 0, done.output
    assert "--timeout 0.1 is short: a program that terminates took up to" in done.stderr
    assert "the device was slow: 2 that hung terminated with more time (a plain, b plain)" in done.stdout
    for result in bench.seen().values():
        assert result.slow and result.outcomes == "TTT" and result.tries[0] == "H" and result.tries[-1] == "T"
    assert "held: no test that terminates under them hung: fair-weak, fair-strong" in done.stdout


def test_slow_at_random(bench: Bench) -> None:
    """Every third launch is slow: first the hang is told, then nothing of it is left."""
    done = bench.run({"third": 1.0}, ["a"], "--timeout", 0.5, *FAIR)
    assert done.exit_code == 0, done.output
    lines = read_results(bench.results)
    assert [each.outcomes for each in lines if isinstance(each, ProgressResult)] == ["TTH", "TTT"]
    first, last = read_times(bench.results)
    assert len(first.tries) == 1 and [each.limit for each in last.tries][:2] == [0.5, 2.5]
    assert all(each.seconds > 0 and each.load is not None for each in last.tries)


def test_a_hang_is_confirmed_before_it_contradicts(bench: Bench) -> None:
    done = bench.run({"hangs": ["b"]}, ["a", "b", "c"], "--timeout", 0.2, *FAIR)
    assert done.exit_code == 1 and "fair-strong is not sound here: b was seen to hang" in done.stderr
    seen = bench.seen()
    assert seen["b"].confirmed and (seen["b"].outcomes, seen["b"].tries) == ("H", ("H", "H", "H"))
    assert not seen["a"].hangs and not seen["c"].hangs
    assert [each.limit for each in read_times(bench.results)[-1].tries] == [0.2, 1.0, 5.0]
    assert [each.test for each in launches(bench.log)][-1] == "control"


@pytest.mark.usefixtures("sooner")
def test_a_hang_that_comes_in_few_iterations_comes_again(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the last of ten runs of three, say."""
    monkeypatch.setattr(synth.hangs, "RUNS", 10)
    done = bench.run({"hangs": ["a"], "at": [3, 33, 60]}, ["a"], "--timeout", 0.5, *FAIR)
    assert done.exit_code == 1, done.output
    assert bench.seen()["a"].tries == ("TTH", "H", "H")


def test_a_hang_that_contradicts_no_model_is_left_as_it_is(bench: Bench) -> None:
    done = bench.run({"hangs": ["a"]}, ["a"], "--timeout", 0.5, "-m", "hsa", "--sound", "unfair")
    assert done.exit_code == 0, done.output
    assert bench.seen()["a"].outcomes == "H" and not bench.seen()["a"].tries
    assert re.search(r"^hsa-strong +1 +1 +0$", done.stdout, re.M) and "not confirmed" not in done.stdout


@pytest.mark.usefixtures("sooner")
def test_what_hung_is_made_again_alone(bench: Bench) -> None:
    """Nothing of the campaign runs beside it, however many jobs there are."""
    names = [f"t{number}" for number in range(9)]
    done = bench.run({"hangs": ["t1", "t4"], "each": 0.1}, names, "--timeout", 0.5, "-j", 4)
    assert done.exit_code == 0, done.output
    again = {each.test: each for each in launches(bench.log)}  # the last of each
    for test in ("t1", "t4"):
        assert not any(
            each.end > again[test].begin for name, each in again.items() if name not in ("t1", "t4", "control")
        )
        assert bench.seen()[test].confirmed


def test_a_device_that_is_stuck_runs_nothing(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(synth.hangs, "PATIENCE", 0.5)
    done = bench.run({"ends": 1}, ["a"], *FAIR)
    assert done.exit_code == 1 and not bench.seen()
    assert "terminates under every model does not end in 0.5 s on a slow toy: nothing was run" in done.stderr


def test_a_campaign_in_which_everything_hangs_stops(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(synth.hangs, "STREAK", 4)
    names = [f"t{number}" for number in range(9)]
    done = bench.run({"each": 0.5}, names, "--timeout", 0.1, *FAIR)
    assert done.exit_code == 1 and "4 tests in a row hung, and a program that terminates" in done.stderr
    assert "is too slow: the device is slow or stuck, no hang counts; stopped" in done.stderr
    seen = bench.seen()
    assert len(seen) == 4 and not any(each.confirmed for each in seen.values())
    assert "not sound here" not in done.stderr
    assert "4 hangs are not confirmed, and contradict no model (t0 plain, t1 plain, t2 plain, ..)" in done.stdout


@pytest.mark.usefixtures("sooner")
def test_many_tests_that_hang_on_a_device_that_works(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(synth.hangs, "STREAK", 2)
    done = bench.run({"hangs": ["a", "b", "c"]}, ["a", "b", "c"], "--timeout", 0.3, *FAIR)
    assert done.exit_code == 1 and "fair-strong is not sound here" in done.stderr
    assert all(each.confirmed for each in bench.seen().values())


@pytest.mark.usefixtures("sooner")
@pytest.mark.parametrize("ends", [12, 30])
def test_a_device_that_gets_stuck_is_not_called_guilty(
    bench: Bench, ends: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hang wedges it, or something else does: from some launch on nothing ends, the control neither."""
    monkeypatch.setattr(synth.hangs, "PATIENCE", 1.0)
    monkeypatch.setattr(process, "SETUP_TIMEOUT", 5.0)
    done = bench.run({"hangs": ["a"], "ends": ends}, ["a", "b", "c", "d", "e"], "--timeout", 0.3, *FAIR)
    confirmed = {name for name, each in bench.seen().items() if each.confirmed}
    assert done.exit_code == 1 and confirmed <= {"a"}, done.output
    if ends == 12:
        assert not confirmed and "the device is slow or stuck, no hang counts; stopped" in done.stderr


@pytest.mark.usefixtures("sooner")
def test_there_is_no_time_to_confirm(bench: Bench) -> None:
    """The hang is told, and contradicts nothing; the same command confirms it."""
    words = ("--timeout", 0.5, *FAIR)
    done = bench.run({"hangs": ["a"]}, ["a"], *words, "--time-limit", 0.1)
    assert done.exit_code == 0, done.output
    assert "one hang is not confirmed, and contradicts no model (a plain)" in done.stdout
    done = bench.run({"hangs": ["a"]}, ["a"], *words)
    assert done.exit_code == 1 and bench.seen()["a"].confirmed


def test_hangs_that_earlier_versions_wrote_are_not_confirmed(bench: Bench) -> None:
    assert bench.run({}, ["a"], "--timeout", 5).exit_code == 0
    old = print_result(bench.seen()["a"]).replace('"TTT"', '"H"')
    bench.results.write_text(f"{old}\n")
    report = CliRunner().invoke(
        main, ["report", str(bench.results), "--suite", str(bench.folder), "--format", "markdown"]
    )
    assert "contradicted: no model" in report.stdout, report.output
    assert "hangs that are not confirmed, and contradict nothing: 1" in report.stdout
    assert bench.run({}, ["a"], "--timeout", 5, *FAIR).exit_code == 0
    assert bench.seen()["a"].outcomes == "TTT"


@pytest.mark.parametrize(("behaviour", "hung"), [({"hangs": ["m"]}, True), ({"third": 1.5}, False)])
def test_launches_of_memory_tests(
    bench: Bench, behaviour: dict[str, Any], hung: bool, request: pytest.FixtureRequest
) -> None:
    if hung:
        request.getfixturevalue("sooner")
    done = bench.run(behaviour, ["m", "m2"] if hung else ["m"], "--timeout", 0.2 if hung else 0.5)
    assert done.exit_code == 0, done.output
    result = bench.seen()["m"]
    assert (
        isinstance(result, MemoryResult)
        and result.hung is hung
        and result.confirmed is hung
        and result.slow is not hung
    )
    assert result.tries == (("H", "H", "H") if hung else ("TTH", "T"))
    assert result.launches == (0 if hung else 3)
    words = ", then one that did not end in time" if hung else ", with more time: the device was slow"
    assert words in done.stdout
