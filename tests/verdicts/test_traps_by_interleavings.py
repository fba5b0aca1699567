"""What interleavings say of the programs in C and C++ with one trap each: no fault is missed, and none is made up."""

import csv
import json
from pathlib import Path

import pytest
from commands import synth

HERE = Path(__file__).parent
KINDS = ("race", "bounds", "trap", "uninitialised", "hang")


def table(name):
    with (HERE / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return {row["file"]: row for row in csv.DictReader(file)}


@pytest.mark.rest
@pytest.mark.parametrize(("name", "suffix", "least"), [("c_traps", "c", 100), ("cpp_traps", "cpp", 30)])
def test_no_trap_is_missed_and_none_is_made_up(name, suffix, least):
    rows = table(name)
    files = [HERE / name / f"{program}.{suffix}" for program in rows]
    words = ("-m", "rc11", "--method", "interleaved", "--format", "jsonl", "--jobs", 2, "--timeout", 60)
    told = 0
    for one in map(json.loads, synth("check", *files, *words).stdout.splitlines()):
        row = rows[Path(one["file"]).stem]
        wanted = {kind for kind in KINDS if row[kind]}
        found = {finding["kind"] for finding in one["findings"]}
        assert found <= wanted, (row["file"], found)
        states = {*one["answers"].values()}
        safe = not found and states == {"SAFE"} and one.get("hang", {}).get("fair") != "UNKNOWN"
        assert not safe or (not wanted and not row.get("refused")), row["file"]
        told += states <= {"SAFE", "FOUND"}
    assert told > least
