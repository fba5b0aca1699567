"""Hosts that serve: one process for many programs, a new one after a hang or a crash."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from processes import is_alive

from backends.shared import process
from backends.shared.process import RunError, Server
from backends.shared.serve import serving

HOST = """
import argparse, os, sys, time
def parser():
    return argparse.ArgumentParser()
def run(arguments, path, iterations):
    word = path.name
    if word == "refused":
        return 2, "it is refused"
    if word == "crashes":
        os._exit(9)
    if word == "dies-later":
        import threading
        threading.Timer(0.05, os._exit, [9]).start()
    print("ready", flush=True)
    for number in range(iterations):
        if word == "hangs":
            time.sleep(600)
        print("iteration", number, os.getpid(), flush=True)
    if word == "cut":
        return 3, "threads were cut short"
    if word == "lost":
        return 124, "the device is lost"
    return 0, ""
"""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    host = tmp_path / "host.py"
    host.write_text(HOST)
    found = Server(serving(host, []), {})
    yield found
    found.close()


def pids(server: Server, program: str = "good", iterations: int = 2) -> set[str]:
    run = server.watch(program, iterations, 30)
    assert run.outcomes == "T" * iterations
    return {line.split()[2] for line in run.lines}


def test_programs_share_a_process(server: Server) -> None:
    assert pids(server) == pids(server) and len(pids(server)) == 1


def test_a_hang_costs_its_time_and_its_process(server: Server) -> None:
    before = pids(server)
    run = server.watch("hangs", 3, 0.3)
    assert (run.outcomes, run.seconds) == ("H", (0.3,))
    assert pids(server) != before


def test_every_iteration_of_a_hang(server: Server) -> None:
    assert server.watch("hangs", 2, 0.3, every_iteration=True).outcomes == "HH"


@pytest.mark.parametrize(
    ("program", "message"), [("refused", "it is refused"), ("crashes", "code 9"), ("cut", "threads were cut short")]
)
def test_what_fails_is_told_and_the_next_runs(server: Server, program: str, message: str) -> None:
    with pytest.raises(RunError, match=message):
        server.watch(program, 1, 30)
    assert pids(server)


def test_a_program_that_is_refused_costs_no_process(server: Server) -> None:
    before = pids(server)
    with pytest.raises(RunError):
        server.watch("refused", 1, 30)
    assert pids(server) == before


def test_a_device_that_is_lost_is_a_hang_and_found_anew(server: Server) -> None:
    before = pids(server)
    assert server.watch("lost", 1, 30).outcomes == "TH"
    assert pids(server) != before


def test_a_process_that_died_between_programs_costs_none(server: Server) -> None:
    before = pids(server, "dies-later")
    (pid,) = before
    while is_alive(int(pid)):
        time.sleep(0.01)
    assert pids(server) not in (before, set())


def test_a_process_has_its_time(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "LIFE", 2)
    first, second, third = (pids(server) for _ in range(3))
    assert first == second != third


def test_a_host_that_is_not_there() -> None:
    with pytest.raises(RunError, match="execute"):
        Server(["/nonexistent/program"], {}).watch("x", 1, 30)


def test_words_before_the_end_are_no_end(tmp_path: Path) -> None:
    host = tmp_path / "host.py"
    host.write_text(HOST.replace("word = path.name", 'word = path.name; print("done is done")'))
    server = Server(serving(host, []), {})
    assert server.watch("good", 1, 30).outcomes == "T"
    server.close()
    assert sys.executable in serving(host, [])
