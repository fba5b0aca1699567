"""Commands that are killed (SIGKILL) at moments spread over their time, and given again: the same files in the end, and
nothing is left in the folder for temporary files or beside what they write.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from synth.tuning.journal import BEGINS
from tests.reported import entries, memory_test, progress_tests, write_all, write_results

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
KILLS = 8


def results(folder: Path) -> None:
    """Results of other days."""
    write_all(folder)
    every = entries(*progress_tests(), memory_test())
    write_results(folder / "a.jsonl", every[:5])
    write_results(folder / "b.jsonl", every[3:])


def suite(folder: Path) -> None:
    done = subprocess.run(
        command("progress --threads 2 --instrs 2 --all -o suite"), cwd=folder, env=environment(folder)
    )
    assert done.returncode == 0


def same(first: bytes, second: bytes) -> bool:
    return first == second


def once(first: bytes, second: bytes) -> bool:
    """Whether results have each test once, the same ones; how long it took is another matter."""
    mine, others = ([json.loads(line)["test"] for line in data.splitlines()] for data in (first, second))
    return sorted(mine) == sorted(set(others)) and len(set(mine)) == len(mine)


ASKED = ("search", "test", "profile", "launches", "instances")
"""What a line of a search's journal has that hangs neither on how fast the machine is nor on what it showed."""


def asked_alike(first: bytes, second: bytes) -> bool:
    """Whether the journals of two searches have the same questions, in the same order, or the same profile came of
    them, for there is one that can.
    """
    mine, others = (
        [[json.loads(line)[each] for each in ASKED] for line in data.splitlines()]
        if data.startswith(BEGINS)
        else [line for line in data.splitlines() if not line.startswith(b"#")]
        for data in (first, second)
    )
    return mine == others


@dataclass(frozen=True)
class Case:
    """A command, what lies there before, how its files are compared, and what another try needs besides."""

    words: str
    start: Callable[[Path], object] = lambda folder: None
    alike: Callable[[bytes, bytes], bool] = same
    needs: str = ""


CASES = {
    "run": Case("run suite --backend cpp --iterations 2 -j 1 -o r.jsonl", suite, once, needs="cpp"),
    "tune": Case(
        "tune --backend opencl --method random --shapes SB --instances 64 --grid 'launches=1 turns=1 candidates=1' "
        "-o p.toml",
        alike=asked_alike,
        needs="opencl",
    ),
    "fix": Case(f"fix {EXAMPLES}/memory/mp-weak.litmus --model ptx-6.0 -o fixed.litmus"),
    "import": Case("import a.jsonl b.jsonl -o all.jsonl", results),
    "compile": Case(
        f"compile {EXAMPLES}/memory/c-sb-sc.litmus --backend cpp --check-translation -o out",
        needs="cpp",
    ),
    "infer": Case(f"infer cpu --from {EXAMPLES}/inference/x86/tests.csv -o out"),
    "map": Case(f"map {EXAMPLES}/mappings/rc11-to-tso-unfenced.map --events ..4 -o bugs"),
}


def command(words: str) -> list[str]:
    return [sys.executable, "-m", "synth", *shlex.split(words)]


def environment(folder: Path) -> dict[str, str]:
    (folder.parent / "tmp").mkdir(exist_ok=True)
    mine = {"PYTHONPATH": str(ROOT), "SOURCE_DATE_EPOCH": "0", "TMPDIR": str(folder.parent / "tmp")}
    return {**os.environ, **mine}


def files(folder: Path) -> dict[str, bytes]:
    """All files of a folder, hidden ones too."""
    paths = {str(path.relative_to(folder)): path for path in sorted(folder.rglob("*"))}
    return {name: b"" if path.is_dir() else path.read_bytes() for name, path in paths.items()}


def begin(folder: Path, words: str) -> subprocess.Popen[bytes]:
    with (folder.parent / "errors").open("wb") as errors:
        return subprocess.Popen(
            command(words), cwd=folder, env=environment(folder), stdout=subprocess.DEVNULL, stderr=errors
        )


def at_work(place: Path) -> list[str]:
    """The processes that are in a folder, or in one within it; one that has ended and is not waited for is in none."""
    found = []
    for process in filter(str.isdecimal, os.listdir("/proc")):
        with suppress(OSError):
            if os.readlink(f"/proc/{process}/cwd").startswith(str(place)):
                found.append(Path(f"/proc/{process}/cmdline").read_bytes().replace(b"\0", b" ").decode())
    return found


SOON = 2
"""Seconds in which the processes that a command has started end when it is killed."""


def all_gone(place: Path) -> float:
    """How many seconds it takes until no process is in a folder. It fails where that is not soon."""
    started = time.monotonic()
    while left := at_work(place):
        took = time.monotonic() - started
        assert took < SOON, left
        time.sleep(0.02)
    return time.monotonic() - started


def given_again(folder: Path, case: Case) -> int:
    return begin(folder, case.words).wait(timeout=300)


GROWS = re.compile(r"(^|/)(r|p\.journal|journal|translation)\.jsonl$")
"""The files to which a command adds lines, and from which it goes on."""


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_the_end_is_as_if_nothing_had_happened(name: str, tmp_path: Path, need: Callable[[str], None]) -> None:
    case = CASES[name]
    if case.needs:
        need(case.needs)
    (tmp_path / "whole").mkdir()
    case.start(tmp_path / "whole")
    started = time.monotonic()
    code = given_again(tmp_path / "whole", case)
    took, whole = time.monotonic() - started, files(tmp_path / "whole")
    assert code in (0, 1), (tmp_path / "errors").read_text()
    left = os.listdir(tmp_path / "tmp")
    assert not left
    tidied = resumed = 0
    slowest = 0.0
    for number in range(KILLS):
        folder = tmp_path / str(number)
        folder.mkdir()
        case.start(folder)
        with begin(folder, case.words) as process:
            time.sleep(took * (number + 0.5) / KILLS)
            process.kill()
        slowest = max(slowest, all_gone(tmp_path))
        tidied += bool(os.listdir(tmp_path / "tmp"))
        before = files(folder)
        again = given_again(folder, case)
        told = f"killed after {number + 0.5} of {KILLS} parts: {(tmp_path / 'errors').read_text()}"
        after = files(folder)
        assert again == code or (again == 2 and before == after), told  # it was whole, and is not written over
        assert after.keys() == whole.keys(), told
        for path, data in after.items():
            assert (
                data == whole[path] or path.endswith(("times.json", ".times.jsonl")) or case.alike(whole[path], data)
            ), f"{path}, {told}"
        for path in filter(GROWS.search, before):
            kept = before[path][: before[path].rfind(b"\n") + 1]
            resumed += bool(kept) and before != after
            assert path not in after or after[path].startswith(kept), f"{path} has lost lines, {told}"
        assert os.listdir(tmp_path / "tmp") == [], told
    print(
        f"{name}: {KILLS} kills over {took:.1f} s each; {tidied} left temporary files, which the next run removed, "
        f"{resumed} lines that it went on after; what was started was gone in {slowest:.2f} s"
    )
