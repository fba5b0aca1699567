"""Commands that are killed (SIGKILL) at any change they make to files leave no half of one, and can be given again.

Campaigns, which append to a file that others read, are in ``test_campaign_runs``; syntheses in the tests of theirs.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from signal import SIGKILL

import pytest

from backends.shared.profiles import read_profile
from tests.mutant_suites import write_results as write_mutants_results
from tests.mutant_suites import write_suite as write_mutants
from tests.reported import entries, memory_test, progress_tests, write_all, write_results

ROOT = Path(__file__).parents[2]
TUNE = "tune --backend opencl --method random"
RESULTS = ("all.jsonl", "all.times.jsonl")


def corpora(folder: Path) -> None:
    """A corpus of each family with results, and a file of results of other days."""
    write_all(folder)
    every = entries(*progress_tests(), memory_test())
    write_results(folder / "a.jsonl", every[:5])
    write_results(folder / "b.jsonl", every[3:])


def mutants(folder: Path) -> None:
    write_mutants(folder / "tso")
    write_mutants_results(folder / "results.jsonl")


@dataclass(frozen=True)
class Case:
    """A command, what lies there when it is given, and what it writes."""

    words: str
    start: Callable[[Path], object] = corpora
    outputs: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()
    """Those of them that grow line by line, or are locked while they are made anew."""
    measured: bool = False
    """Whether what is written depends on how fast the machine is."""
    most: int = 20
    needs: str = ""


CASES = {
    "report": Case("report progress memory -j 1 --explain 1 -o r.html", outputs=("r.html",)),
    "import": Case("import a.jsonl b.jsonl -o all.jsonl", outputs=RESULTS, lines=RESULTS),
    "import into results": Case("import a.jsonl -o b.jsonl", outputs=("b.times.jsonl",), lines=("b.jsonl",)),
    "page": Case("compile memory --backend web -m sc --instances 64 -o site", outputs=("site/index.html",)),
    "programs": Case("compile memory --backend cpp -o cpp --force", outputs=("cpp/SB.cpp",)),
    "score": Case("score tso results.jsonl --json", mutants),
    "select": Case("select tso results.jsonl --score --budget 60 -o ci", mutants, ("ci/tests.jsonl", "ci/plan.json")),
    "tune": Case(
        f"{TUNE} --shapes SB --instances 64 --grid 'launches=1 turns=1 candidates=1' -o p.toml",
        lambda folder: None,
        ("p.toml", "p.journal.jsonl"),
        lines=("p.journal.jsonl",),
        measured=True,
        most=3,
        needs="opencl",
    ),
}


def files(folder: Path) -> dict[str, bytes]:
    """All files of a folder, but for those whose names begin with a dot: nobody reads them."""
    paths = {str(path.relative_to(folder)): path for path in sorted(folder.rglob("*")) if path.is_file()}
    return {name: path.read_bytes() for name, path in paths.items() if not re.search(r"(^|/)\.", name)}


LONG = ("report", "tune")
"""Commands that take half a minute."""


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] * (name in LONG)) for name in CASES])
def test_a_command_that_is_killed_can_be_given_again(name: str, tmp_path: Path, need: Callable[[str], None]) -> None:
    """No file that it writes is there by halves, and in the end all are as if nothing had happened."""
    case = CASES[name]
    if case.needs:
        need(case.needs)
    (tmp_path / "start").mkdir()
    case.start(tmp_path / "start")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "SOURCE_DATE_EPOCH": "0"}
    command = [sys.executable, "-m", "tests.kills", str(tmp_path), str(case.most), *shlex.split(case.words)]
    done = subprocess.run(command, capture_output=True, env=environment, timeout=300)
    told = done.stderr.decode()
    assert done.returncode == 0, told
    (_, _, _, code), *kills = json.loads(done.stdout)
    before, whole = files(tmp_path / "start"), files(tmp_path / "whole")
    assert code == 0 and whole.keys() >= {*before, *case.outputs}, told
    assert len(kills) >= 3 if case.outputs else not kills
    for point, change, signal, again in kills:
        where = f"killed before {change}: {told}"
        left, after = files(tmp_path / f"killed-{point}"), files(tmp_path / f"again-{point}")
        assert signal == SIGKILL, where
        # What was whole already is not written over.
        assert again == 0 or (again == 2 and left == whole != before), where
        assert before.keys() <= left.keys() <= whole.keys() == after.keys(), where
        if not case.measured:
            assert after == whole, where
        for file in left:
            if file not in case.lines:
                assert left[file] in (whole[file], before.get(file)) or case.measured, where
            else:
                said = left[file][: left[file].rfind(b"\n") + 1]
                assert after[file].startswith(said) or said == before.get(file), where
    if case.measured:
        assert all(read_profile(folder / "p.toml") for folder in tmp_path.glob("again-*"))
