"""Campaigns on real devices: killed and gone on with, in shards, told to a continuous-integration service."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
from commands import synth

from backends.shared.results import ProgressResult, parse_result, read_results
from synth.junit import class_name

pytestmark = pytest.mark.device

ROUND_ROBIN = ("run", "--backend", "opencl", "--instances", 16, "--mapping", "round-robin")
"""The first words of a command that hangs some tests of 2x2, and not all."""

Suite = Callable[[str, str], Path]


def trials(path: Path) -> list[tuple[str, str]]:
    """Those that were made, but not what was made again of those that hung."""
    results = [each for each in read_results(path) if isinstance(each, ProgressResult)]
    return [(each.test, each.mapping) for each in results if not each.tries]


@pytest.mark.slow
def test_a_campaign_that_is_killed_goes_on(tmp_path: Path, progress_suite: Suite, need: Callable[[str], None]) -> None:
    """By SIGKILL, so that nobody can tidy up; no process of a test is left."""
    need("opencl")
    results = tmp_path / "results.jsonl"
    words = [*ROUND_ROBIN, progress_suite("2x2", "--all")]
    words += ["--iterations", 2, "-j", 2, "-o", results]
    started = subprocess.Popen(
        [sys.executable, "-c", "from synth.commands.cli import main; main()", *map(str, words)],
        stdout=subprocess.DEVNULL,
    )
    for _ in range(3000):
        if started.poll() is not None or (results.exists() and results.read_bytes().count(b"\n") > 2):
            break
        time.sleep(0.01)
    children = descendants(started.pid)
    started.kill()
    started.wait()
    known = len(trials(results))
    assert 2 < known < 8 and children
    check_gone(children)
    with results.open("a") as file:
        file.write('{"test":"2x2-00')  # what a write leaves that was cut
    done = synth(*words)
    assert done.exit_code == 0, done.output
    assert len(set(trials(results))) == 8
    # A hang that was not confirmed yet is looked for anew.
    ended = [each for each in read_results(results) if isinstance(each, ProgressResult) and not each.hangs]
    assert len({each.test for each in ended if not each.tries}) == sum(not each.tries for each in ended)
    lines = results.read_text().splitlines()
    assert sum(isinstance(parse_result(line), ProgressResult) for line in lines) == len(lines)


def descendants(pid: int) -> list[int]:
    """The processes that a process has started, and those that they have."""
    try:
        tasks = Path(f"/proc/{pid}/task").iterdir()
        mine = [int(each) for task in tasks for each in (task / "children").read_text().split()]
    except OSError:
        return []
    return [*mine, *(each for child in mine for each in descendants(child))]


def check_gone(children: list[int]) -> None:
    """Those whose parent was killed are waited for by the system, in its own time."""
    for _ in range(1000):
        if not any(Path(f"/proc/{pid}").exists() for pid in children):
            return
        time.sleep(0.01)
    pytest.fail(f"processes are left: {children}")


@pytest.mark.slow
def test_shards_merged_are_the_whole(
    tmp_path: Path, progress_suite: Suite, need: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of C++ threads, one instance each, all tests of 2x2 terminate: so the results are the same bytes."""
    need("cpp")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    monkeypatch.setenv("SYNTH_CACHE_DIR", str(tmp_path / "cache"))
    words = ["run", progress_suite("2x2", "--all"), "--backend", "cpp", "--mapping", "plain", "--iterations", 3]
    words += ["--timeout", 30]
    assert synth(*words, "-j", 2, "-o", tmp_path / "whole.jsonl").exit_code == 0
    shards = [tmp_path / f"{number}.jsonl" for number in (1, 2, 3)]
    for number, shard in enumerate(shards, 1):
        assert synth(*words, "--shard", f"{number}/3", "-o", shard).exit_code == 0
    assert [len(trials(shard)) for shard in shards] == [3, 3, 2]
    assert synth("import", *reversed(shards), "-o", tmp_path / "merged.jsonl").exit_code == 0
    assert synth("import", tmp_path / "whole.jsonl", "-o", tmp_path / "one.jsonl").exit_code == 0
    assert (tmp_path / "merged.jsonl").read_bytes() == (tmp_path / "one.jsonl").read_bytes()
    assert len(trials(tmp_path / "one.jsonl")) == 8


@pytest.mark.slow
def test_a_device_that_contradicts_what_it_claims(
    tmp_path: Path, progress_suite: Suite, need: Callable[[str], None]
) -> None:
    need("opencl")
    results, report = tmp_path / "results.jsonl", tmp_path / "junit.xml"
    corpus = progress_suite("2x2", "--all")
    words = [*ROUND_ROBIN, corpus, "--iterations", 1, "-j", 2, "-o", results]
    done = synth(*words, "--sound", "fair-strong", "--sound", "unfair-weak", "--junit", report)
    assert done.exit_code == 1 and "fair-strong is not sound here" in done.stderr
    hung = {each.test for each in read_results(results) if isinstance(each, ProgressResult) and each.confirmed}
    suite = ElementTree.fromstring(report.read_text())[0]
    failed = {case.get("name") for case in suite if case.find("failure") is not None}
    assert failed == hung and 0 < len(hung) < 8
    first = read_results(results)[0]
    assert isinstance(first, ProgressResult)
    name = class_name("opencl", first.device, first.driver, first.compiler, "round-robin")
    assert suite.get("tests") == "8" and suite.get("name") == name and first.device in name
    assert {case.get("classname") for case in suite} == {name}
    again = synth("report", results, "--suite", corpus, "--format", "junit")
    assert [each.get("name") for each in ElementTree.fromstring(again.stdout)] == [name]
    assert synth(*words, "--sound", "unfair-weak", "--rerun", "hung").exit_code == 0
    assert sorted(test for test, _ in trials(results)[8:]) == sorted(hung)


def test_no_time(tmp_path: Path, progress_suite: Suite, need: Callable[[str], None]) -> None:
    need("opencl")
    words = ["run", progress_suite("2x2", "--all"), "--backend", "opencl", "--instances", 16, "--mapping", "plain"]
    words += ["--iterations", 1, "-o", tmp_path / "results.jsonl"]
    done = synth(*words, "--time-limit", 1e-9)
    assert (done.exit_code, trials(tmp_path / "results.jsonl")) == (0, [])
    assert "8 not run: the time limit of 1e-09 seconds was reached; the same command goes on" in done.stderr
    assert synth(*words).exit_code == 0
    assert len(trials(tmp_path / "results.jsonl")) == 8


def test_ctrl_c_leaves_results_that_open(tmp_path: Path, progress_suite: Suite, need: Callable[[str], None]) -> None:
    need("opencl")
    results = tmp_path / "results.jsonl"
    words = ["run", progress_suite("2x2", "--all"), "--backend", "opencl", "--instances", 16, "-j", 2, "-o", results]
    started = subprocess.Popen(
        [sys.executable, "-c", "from synth.commands.cli import main; main()", *map(str, words)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    for _ in range(3000):
        if results.exists() and results.read_bytes().count(b"\n") > 0:
            break
        time.sleep(0.01)
    children = descendants(started.pid)
    os.kill(started.pid, signal.SIGINT)
    _, said = started.communicate(timeout=60)
    assert started.returncode != 0 and b"Traceback" not in said
    assert trials(results)
    check_gone(children)
