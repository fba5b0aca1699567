"""What ``synth check`` says of the programs of ``examples/cpp``, as argued from the model of C++ (cpp_programs.csv).

The columns are those of c_programs.csv. Lines are those of the program, also where what they call is in a header of the
C++ library.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from commands import synth

from synth.checking.questions import PROGRESS

HERE = Path(__file__).parent
PROGRAMS = HERE.parents[1] / "examples" / "cpp"
LETTERS = {"TERMINATES": "T", "MAY_HANG": "H"}
ASKED = ("race", "bounds", "trap", "uninitialised")
COSTLY = ("mcs-lock", "ms-queue", "ring-buffer", "ticket-lock")
"""Data structures whose programs take seconds each."""

with (HERE / "cpp_programs.csv").open(encoding="utf-8", newline="") as _file:
    TABLE = list(csv.DictReader(_file))


def params():
    for row in TABLE:
        marks = [pytest.mark.slow] if row["file"].startswith(COSTLY) else []
        yield pytest.param(row, id=row["file"], marks=marks)


def test_each_program_is_there_with_a_bug_and_without():
    files = sorted(path.stem for path in PROGRAMS.glob("*.cpp"))
    assert files == sorted(row["file"] for row in TABLE)
    wrong = {row["file"] for row in TABLE if "FOUND" in row.values()}
    assert len(wrong) == 10 and {name.rpartition("-")[0] for name in wrong} == {*files} - wrong


@pytest.mark.parametrize("row", list(params()))
def test_programs(row):
    result = synth("check", PROGRAMS / f"{row['file']}.cpp", "-m", row["model"], "--json", "--jobs", 1)
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
