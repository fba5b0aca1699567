"""Tables of code sequences under ``synth map`` up to four events, and each of their parts less.

``amdgpu_tables.csv`` states for each table how many tests were explored, how many shapes beyond are reached, and of its
single deletions how many are refuted by a minimal test, by one with stronger instructions, by a shape, or by none.
``amdgpu_parts.csv`` lists the deletions that none refutes.
"""

import csv
import json
from collections import Counter
from pathlib import Path

import pytest
from commands import synth

HERE = Path(__file__).parent
TABLES = sorted((HERE.parents[1] / "examples" / "sequences").glob("*.seq"))


def stated(name):
    with (HERE / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_every_table_and_enough_deletions_are_stated():
    rows = stated("amdgpu_tables.csv")
    assert sorted(row["table"] for row in rows) == [path.stem for path in TABLES]
    left = Counter(row["table"] for row in stated("amdgpu_parts.csv"))
    for row in rows:
        refuted = sum(int(row[kind]) for kind in ("minimal", "stronger", "shape"))
        assert refuted >= 30 and refuted + int(row["left"]) == int(row["deletions"])
        assert left[row["table"]] == int(row["left"])


@pytest.mark.slow
def test_every_table_is_sound_up_to_four_events_and_its_parts_are_as_stated():
    result = synth("map", *TABLES, "--weakest", "--json")
    assert result.exit_code == 1
    record = json.loads(result.stdout)
    rows = {row["table"]: row for row in stated("amdgpu_tables.csv")}
    assert record["minimal"] == 327
    for table in record["tables"]:
        row = rows[table["to"]]
        assert table["searched"] == 4
        assert all(bug["kind"] == "shape" and bug["name"].startswith("ISA2-cta") for bug in table["bugs"])
        kinds = Counter(each["kind"] for each in table["weaker"])
        counts = {kind: str(kinds[kind]) for kind in ("minimal", "stronger", "shape")}
        left = [each["step"] for each in table["weaker"] if not each["bug"]]
        found = {
            "table": table["to"],
            "explored": str(table["explored"]),
            "shapes": str(table["shapes"]),
            "reached": str(len(table["bugs"])),
            "deletions": str(len(table["weaker"])),
            **counts,
            "left": str(len(left)),
        }
        assert found == row
        assert left == [part["part"] for part in stated("amdgpu_parts.csv") if part["table"] == table["to"]]
