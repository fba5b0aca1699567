"""The watcher of processes, with small programs that stand in for a test."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from backends.shared import process
from backends.shared.process import RunError, watch

PRELUDE = "import sys, time, os, subprocess\ndef say(*words): print(*words, flush=True)\nn = int(sys.argv[1])\n"
FOREVER = "time.sleep(600)"


def program(body: str) -> list[str]:
    return [sys.executable, "-c", PRELUDE + body]


def test_all_iterations_terminate() -> None:
    run = watch(program("say('ready')\nfor i in range(n): say('iteration', i, 'terminated')\nsay('done')"), 3, 30)
    assert run.outcomes == "TTT"
    assert len(run.seconds) == 3


def test_a_hang_is_killed_and_the_rest_skipped() -> None:
    run = watch(program(f"say('ready')\nsay('iteration 0 terminated')\n{FOREVER}"), 20, 0.3)
    assert run.outcomes == "TH"
    assert run.seconds[1] == 0.3


def test_every_iteration() -> None:
    run = watch(program(f"say('ready')\nsay('iteration 0 terminated')\n{FOREVER}"), 4, 0.3, every_iteration=True)
    assert run.outcomes == "THTH"


def test_setting_up_is_no_iteration() -> None:
    run = watch(program("time.sleep(1)\nsay('ready')\nsay('iteration 0 terminated')"), 1, 0.5)
    assert run.outcomes == "T"


def test_to_end_is_no_iteration() -> None:
    run = watch(program("say('ready')\nfor i in range(n): say('iteration', i, 'terminated')\ntime.sleep(1)"), 2, 0.5)
    assert run.outcomes == "TT"


def test_what_never_ends_after_its_last_iteration_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "SETUP_TIMEOUT", 1.0)
    with pytest.raises(RunError, match="it did not end after its last iteration in 1 seconds"):
        watch(program(f"say('ready')\nsay('iteration 0 terminated')\n{FOREVER}"), 1, 0.5)


def test_a_device_that_gives_up_is_a_hang() -> None:
    run = watch(program("say('ready')\nsay('iteration 0 terminated')\nsys.exit(124)"), 2, 30)
    assert run.outcomes == "TH"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("print('it is broken', file=sys.stderr)\nsys.exit(2)", "it is broken"),
        ("say('ready')\nsay('iteration 0 terminated')\nsys.exit(3)", "code 3"),
        ("say('ready')\nos.kill(os.getpid(), 9)", "code -9"),
        ("say('ready')", "0 of 2"),
    ],
)
def test_failing_is_not_hanging(body: str, message: str) -> None:
    with pytest.raises(RunError, match=message):
        watch(program(body), 2, 30)


def test_a_program_that_is_not_there() -> None:
    with pytest.raises(RunError, match="execute"):
        watch(["/nonexistent/program"], 1, 30)


def test_the_whole_process_group_is_killed(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    child = f"import os, time; open({str(pid_file)!r}, 'w').write(str(os.getpid())); {FOREVER}"
    body = f"subprocess.Popen([sys.executable, '-c', {child!r}])\n"
    body += f"while not (os.path.exists({str(pid_file)!r}) and open({str(pid_file)!r}).read()): time.sleep(0.01)\n"
    assert watch(program(f"{body}say('ready')\n{FOREVER}"), 1, 0.3).outcomes == "H"
    pid = int(pid_file.read_text())
    _wait(lambda: not _alive(pid))


@pytest.mark.skipif(shutil.which("setpriv") is None, reason="no setpriv (Debian: util-linux)")
def test_a_hang_does_not_outlive_us(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    hang = program(f"open({str(pid_file)!r}, 'w').write(str(os.getpid()))\nsay('ready')\n{FOREVER}")
    watcher = subprocess.Popen(
        [sys.executable, "-c", f"from backends.shared.process import watch; watch({hang!r}, 1, 600)"]
    )
    try:
        _wait(lambda: pid_file.exists() and pid_file.read_text() != "")
    finally:
        watcher.kill()
        watcher.wait()
    _wait(lambda: not _alive(int(pid_file.read_text())))


def _wait(condition: Callable[[], bool]) -> None:
    for _ in range(3000):
        if condition():
            return
        time.sleep(0.01)
    raise AssertionError("it did not happen")


def _alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"
