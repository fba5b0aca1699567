"""What ``synth check`` says of programs in C++ with one trap each, and of what is right beside it (cpp_traps.csv).

The first comment of a program says what is right or wrong, by the section of the C++20 Standard. Columns are those of
c_traps.csv; lines are those of the program.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from commands import synth

HERE = Path(__file__).parent
FOLDER = HERE / "cpp_traps"
KINDS = ("race", "bounds", "trap", "uninitialised", "hang")

with (HERE / "cpp_traps.csv").open(encoding="utf-8", newline="") as _file:
    TABLE = {row["file"]: row for row in csv.DictReader(_file)}


def test_each_program_has_a_row():
    assert {path.stem for path in FOLDER.glob("*.cpp")} == {*TABLE}
    for name, row in TABLE.items():
        assert any(row[kind] for kind in KINDS) == name.endswith("-wrong"), name


@pytest.mark.parametrize("name", TABLE)
def test_traps(name):
    words = ("-m", "rc11", "--format", "jsonl", "--jobs", 1, "--timeout", 60)
    row, one = TABLE[name], json.loads(synth("check", FOLDER / f"{name}.cpp", *words).stdout)
    found = {}
    for finding in one["findings"]:
        lines = (line["line"] for line in finding["lines"] if Path(line["file"]).stem == name)
        found.setdefault(finding["kind"], set()).update(lines)
    wanted = {kind: {*map(int, row[kind].split())} for kind in KINDS if row[kind]}
    if wanted.get("hang", {0}) <= found.get("hang", set()):  # of the threads that wait, the last at least
        wanted["hang"] = found["hang"]
    assert found == wanted
    if not found:
        assert {*one["answers"].values()} == {"SAFE"}


@pytest.mark.parametrize(
    ("code", "column", "name"),
    [
        ("#include <locale>\nint main() { std::locale::classic(); }", 14, "std::locale::classic"),
        ("namespace own { struct S { void run(int); }; }\nint main() { own::S s; s.run(1); }", 26, "own::S::run"),
    ],
)
def test_what_is_refused_has_its_name_of_the_source(code, column, name, tmp_path):
    program = tmp_path / "unknown.cpp"
    program.write_text(code)
    result = synth("check", program, "--jobs", 1)
    assert result.exit_code == 2
    assert f"unknown.cpp:2:{column}: {name} has no code here" in result.output
