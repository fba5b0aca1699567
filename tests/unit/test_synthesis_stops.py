"""A synthesis that is killed or interrupted in the middle: nothing is left running, and nothing is lost."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from commands import synth
from processes import descendants, is_alive

from corpus.journal import read_corpus
from corpus.suite import JOURNAL, TIMES

PROGRAM = "from synth.commands.cli import main; main()"
ASKED = ["progress", "--threads", "2", "--instrs", "4", "--all"]


def content(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.name != TIMES}


@pytest.fixture(scope="module")
def whole(progress_suite: Callable[[str, str], Path]) -> dict[str, bytes]:
    """The suite of a run that nobody stops."""
    return content(progress_suite("2x4", "--all"))


Started = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def started() -> Iterator[Started]:
    """``started(folder, jobs)`` is a run in the middle: it has found something and is not yet done."""
    runs: list[subprocess.Popen[str]] = []

    def start(folder: Path, jobs: int) -> subprocess.Popen[str]:
        command = [
            sys.executable,
            "-c",
            PROGRAM,
            *ASKED,
            "-j",
            str(jobs),
            "-o",
            folder,
        ]
        pipe = subprocess.PIPE
        run = subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, start_new_session=True)
        runs.append(run)
        wait_until(lambda: lines(folder / JOURNAL) > 10)
        assert run.poll() is None
        return run

    yield start
    for run in runs:
        with suppress(ProcessLookupError):
            os.killpg(run.pid, signal.SIGKILL)  # workers too, should some be left
        run.communicate()


def lines(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


def wait_until(condition: Callable[[], bool]) -> None:
    """Far more patient than it needs to be."""
    for _ in range(4000):
        if condition():
            return
        time.sleep(0.01)
    pytest.fail("waited for long and in vain")


@pytest.mark.parametrize(("jobs", "workers"), [(1, 1), (2, 2)])
def test_kill_9(started, tmp_path, whole, jobs, workers):
    folder = tmp_path / "suite"
    run = started(folder, jobs)
    orphans = descendants(run.pid)
    assert len(orphans) == workers
    run.kill()
    run.wait()
    wait_until(lambda: not any(map(is_alive, orphans)))

    shown = synth("show", folder)
    assert shown.exit_code == 0 and "not complete" in shown.stdout
    before = (folder / JOURNAL).read_bytes()
    found = read_corpus(folder).tests
    assert found
    texts = {json.loads(line)["text"] for line in whole["tests.jsonl"].splitlines()}
    assert {test.text for test in found} < texts
    assert (folder / JOURNAL).read_bytes() == before  # to read is not to write

    resumed = synth(*ASKED, "-j", 3 - jobs, "-o", folder)
    assert resumed.stdout == f"{folder}: 6610 tests, complete\n"
    assert content(folder) == whole


@pytest.mark.parametrize(("jobs", "workers"), [(1, 1), (2, 2)])
def test_ctrl_c(started, tmp_path, whole, jobs, workers):
    folder = tmp_path / "suite"
    run = started(folder, jobs)
    orphans = descendants(run.pid)
    assert len(orphans) == workers
    os.killpg(run.pid, signal.SIGINT)  # as a terminal does it: to every process
    out, err = run.communicate()
    assert run.returncode == 130
    assert err == ""
    assert not any(map(is_alive, orphans))
    corpus = read_corpus(folder)
    assert out == f"{folder}: {len(corpus.tests)} tests, incomplete: interrupted; the same command goes on\n"
    assert 0 < len(corpus.tests) < 6610 and corpus.manifest["complete"] is False
    assert "not complete" in synth("show", folder).stdout
    if jobs == 2:
        assert synth(*ASKED, "-j", 1, "-o", folder).exit_code == 0
        assert content(folder) == whole


def test_a_terminal_is_told_how_far_it_is(tmp_path):
    ours, theirs = pty.openpty()
    command = [
        sys.executable,
        "-c",
        PROGRAM,
        *ASKED,
        "-j",
        "1",
        "-o",
        tmp_path / "suite",
    ]
    environment = {**os.environ, "TERM": "xterm"}  # a bar is for terminals that can erase, and no word is none
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=theirs, text=True, start_new_session=True, env=environment
    ) as run:
        os.close(theirs)
        told = b""
        while not re.search(rb"[1-9]\d* tests", told):
            told += os.read(ours, 4096)
        os.killpg(run.pid, signal.SIGINT)
        while data := read_terminal(ours):
            told += data
        assert run.stdout is not None
        assert "incomplete: interrupted" in run.stdout.read()
    os.close(ours)
    assert run.returncode == 130
    assert b"Traceback" not in told


def read_terminal(descriptor: int) -> bytes:
    """What comes next, nothing when the other side is closed (which Linux calls an error)."""
    try:
        return os.read(descriptor, 4096)
    except OSError:
        return b""
