"""What interleavings say of the programs in C and C++ with one trap each: no fault is missed, and none is made up.
Which progress models are enough is what executions say that are grown event by event.
"""

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


def answers(files, method):
    words = ("-m", "rc11", "--method", method, "--format", "jsonl", "--jobs", 2, "--timeout", 60)
    return list(map(json.loads, synth("check", *files, *words).stdout.splitlines()))


@pytest.mark.rest
@pytest.mark.parametrize(("name", "suffix", "least"), [("c_traps", "c", 100), ("cpp_traps", "cpp", 30)])
def test_no_trap_is_missed_and_none_is_made_up(name, suffix, least):
    rows = table(name)
    files = [HERE / name / f"{program}.{suffix}" for program in rows]
    told, compared = 0, 0
    for one, other in zip(answers(files, "interleaved"), answers(files, "stateless"), strict=True):
        row = rows[Path(one["file"]).stem]
        wanted = {kind for kind in KINDS if row[kind]}
        found = {finding["kind"] for finding in one["findings"]}
        assert found <= wanted, (row["file"], found)
        states = {*one["answers"].values()}
        hang, grown = one.get("hang", {}), other.get("hang", {})
        safe = not found and states == {"SAFE"} and hang.get("fair") != "UNKNOWN"
        assert not safe or (not wanted and not row.get("refused")), row["file"]
        told += states <= {"SAFE", "FOUND"}
        both = [(hang[model], grown[model]) for model in hang.keys() & grown.keys()]
        both = [pair for pair in both if "UNKNOWN" not in pair]
        assert all(ours == theirs for ours, theirs in both), (row["file"], hang, grown)
        compared += bool(both)
    assert told > least and compared > least // 2
