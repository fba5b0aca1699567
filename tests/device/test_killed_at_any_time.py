"""Commands that are killed (SIGKILL) at moments spread over their time, and given again: the same files in the end, and
nothing is left in the folder for temporary files or beside what they write.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from backends.shared.profiles import read_profile
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


@dataclass(frozen=True)
class Case:
    """A command, what lies there before, how its files are compared, and what another try needs besides."""

    words: str
    start: Callable[[Path], object] = lambda folder: None
    alike: Callable[[bytes, bytes], bool] = same
    resume: str = ""
    needs: str = ""


CASES = {
    "run": Case("run suite --backend cpp --iterations 2 -j 1 -o r.jsonl", suite, once, needs="cpp"),
    "tune": Case(
        "tune --backend opencl --method random --shapes SB --candidates 1 --instances 64 --launches 1 --turns 1 "
        "-o p.toml",
        alike=lambda *_: True,
        needs="opencl",
    ),
    "fix": Case(f"fix {EXAMPLES}/memory/mp-weak.litmus --model ptx-6.0 -o fixed.litmus"),
    "import": Case("import a.jsonl b.jsonl -o all.jsonl", results),
    "compile": Case(
        f"compile {EXAMPLES}/memory/c-sb-sc.litmus --backend cpp --check-translation -o out",
        resume="out/translation.jsonl.request.json",
        needs="cpp",
    ),
    "infer": Case(f"infer cpu --from {EXAMPLES}/inference/x86/tests.csv -o out"),
    "map": Case(f"map {EXAMPLES}/mappings/rc11-to-tso-unfenced.map --events ..4 -o bugs", resume="bugs/journal.jsonl"),
}


def command(words: str) -> list[str]:
    return [sys.executable, "-m", "synth", *words.split()]


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


def given_again(folder: Path, case: Case) -> int:
    words = f"{case.words} --resume" if case.resume and (folder / case.resume).exists() else case.words
    return begin(folder, words).wait(timeout=300)


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
    tidied = 0
    for number in range(KILLS):
        folder = tmp_path / str(number)
        folder.mkdir()
        case.start(folder)
        with begin(folder, case.words) as process:
            time.sleep(took * (number + 0.5) / KILLS)
            process.kill()
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
            ), told
        assert os.listdir(tmp_path / "tmp") == [], told
    if name == "tune":
        assert all(read_profile(folder) for folder in tmp_path.glob("*/p.toml"))
    print(f"{name}: {KILLS} kills over {took:.1f} s each, {tidied} left temporary files, which the next run removed")
