"""What ``synth check`` says of the programs of ``examples/c``, as argued from the models of C (c_programs.csv).

Each data structure is there as it should be and with a bug. A row says what is found under a model, and under each
progress model whether all threads end (T) or may hang (H), with weak fairness; ``hang`` is a hang under ``fair``. A
data race leaves all else undefined. ``lines`` has the lines of each kind of finding; those of a hang are among the
lines of its round. Models without a row say of right programs what rc11 says.
"""

from __future__ import annotations

import csv
import json
import shutil
import subprocess
from pathlib import Path

import pytest
from absent import absent
from commands import synth

from synth.checking.questions import PROGRESS

HERE = Path(__file__).parent
PROGRAMS = HERE.parents[1] / "examples" / "c"
LETTERS = {"TERMINATES": "T", "MAY_HANG": "H"}
ASKED = ("race", "bounds", "trap", "uninitialised")
COSTLY = ("ttas-lock", "ms-queue", "rw-lock", "mcs-lock")
"""Data structures whose programs take seconds each."""

with (HERE / "c_programs.csv").open(encoding="utf-8", newline="") as _file:
    TABLE = list(csv.DictReader(_file))


def params():
    for row in TABLE:
        slow = row["file"].startswith(COSTLY) and row["file"] != "mcs-lock-late"
        yield pytest.param(row, id=f"{row['file']}-{row['model']}", marks=[pytest.mark.slow] if slow else [])


def test_each_program_is_there_with_a_bug_and_without():
    files = sorted(path.stem for path in PROGRAMS.glob("*.c"))
    assert files == sorted({row["file"] for row in TABLE if row["model"] == "rc11"})
    wrong = {row["file"] for row in TABLE if "FOUND" in row.values()}
    assert len(wrong) == 10 and {name.rpartition("-")[0] for name in wrong - {"peterson-one-fence"}} <= {*files} - wrong


@pytest.mark.parametrize("row", list(params()))
def test_programs(row):
    result = synth("check", PROGRAMS / f"{row['file']}.c", "-m", row["model"], "--json", "--jobs", 1)
    (one,) = json.loads(result.stdout)
    lines = {}
    for finding in one["findings"]:
        lines.setdefault(finding["kind"], set()).update(line["line"] for line in finding["lines"])
    expected = dict(part.split(":") for part in row["lines"].split(";") if part)
    wanted = {kind: {*map(int, each.split())} for kind, each in expected.items()}
    if "hang" in lines:
        assert wanted["hang"] <= lines["hang"]
        wanted["hang"] = lines["hang"]
    assert lines == wanted
    assert {name: one["answers"][name] for name in ASKED} == {name: row[name] for name in ASKED}
    assert {name: LETTERS[one["hang"][name]] for name in PROGRESS} == {name: row[name] for name in PROGRESS}
    assert ("hang" in lines) is (row["hang"] == "FOUND")
    assert result.exit_code == int(bool(lines))


@pytest.mark.device
@pytest.mark.parametrize("path", sorted(PROGRAMS.glob("*.c")), ids=lambda path: path.stem)
def test_they_are_c_to_a_compiler(path):
    gcc = shutil.which("gcc")
    if gcc is None:
        absent("gcc is needed")
    words = [gcc, "-fsyntax-only", "-std=c11", "-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror", "-pthread"]
    done = subprocess.run([*words, path], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
