"""What ``synth check`` says of small programs in C with one trap each, and of what is right beside it (c_traps.csv).

The first comment of a program says what is right or wrong, by the clause of C11 or the text of POSIX. A row has the
lines of what is found, by its kind: a race, an access out of bounds, a trap (an assertion, undefined behaviour), a read
of what nobody has written, a hang under ``fair``. A program whose row has none is SAFE. ``refused`` is the line of what
is not understood, which is no answer.
"""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest
from commands import synth

HERE = Path(__file__).parent
FOLDER = HERE / "c_traps"
OPEN: set[str] = set()
"""What is not yet answered as the table says."""

KINDS = ("race", "bounds", "trap", "uninitialised", "hang")

with (HERE / "c_traps.csv").open(encoding="utf-8", newline="") as _file:
    TABLE = {row["file"]: row for row in csv.DictReader(_file)}


def lines_of(text):
    return {*map(int, text.split())}


def test_each_program_has_a_row():
    assert {path.stem for path in FOLDER.glob("*.c")} == {*TABLE}
    for name, row in TABLE.items():
        bad = {"right": 0, "wrong": 1, "refused": 2}[name.rpartition("-")[2]]
        assert (2 if row["refused"] else int(any(row[kind] for kind in KINDS))) == bad, name


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.xfail] if name in OPEN else []) for name in TABLE]
)
def test_traps(name):
    words = ("-m", "rc11", "--format", "jsonl", "--jobs", 1, "--timeout", 60)
    row, one = TABLE[name], json.loads(synth("check", FOLDER / f"{name}.c", *words).stdout)
    found = {}
    for finding in one["findings"]:
        found.setdefault(finding["kind"], set()).update(line["line"] for line in finding["lines"])
    assert found == {kind: lines_of(row[kind]) for kind in KINDS if row[kind]}
    refused = {
        int(line)
        for why in (one.get("problem", ""), *one.get("reasons", ()))
        for line in re.findall(r"\.c:(\d+):", why)
    }
    if row["refused"]:
        assert {"NOT UNDERSTOOD", "ERROR"} & {*one["answers"].values()} and lines_of(row["refused"]) <= refused
    elif not found:
        assert {*one["answers"].values()} == {"SAFE"}


@pytest.mark.parametrize("option", ["-w", "-Wno-error", "-Wno-source-uses-openmp", "-fopenmp"])
def test_no_option_of_the_users_leaves_openmp_out(option):
    result = synth("check", FOLDER / "omp-parallel-refused.c", "-X", option, "--format", "jsonl")
    one = json.loads(result.stdout.splitlines()[0])
    assert result.exit_code == 2 and {*one["answers"].values()} <= {"ERROR", "NOT UNDERSTOOD"}
    assert re.search(r"\.c:\d+:", one["problem"])
