"""Tables of code sequences under ``synth map`` up to four events: all are sound, and shapes beyond break some.

``amdgpu_tables.csv`` states of a table's single deletions how many are refuted by a minimal test, by one with stronger
instructions, by a shape, or by none; ``amdgpu_parts.csv`` lists those that none refutes.
"""

import csv
import json
from collections import Counter
from pathlib import Path

import pytest
from commands import synth

TABLES = sorted((Path(__file__).parents[2] / "examples" / "sequences").glob("*.seq"))
REACHED = ("gfx90a", "gfx942", "gfx10-cu-llvm19")
"""Tables that eight shapes of ISA2 break."""
EXPLORED = {
    **dict.fromkeys(("gfx90a", "gfx10-wgp", "gfx11-wgp", "gfx12-cu", "gfx12-wgp"), 327),
    **dict.fromkeys(("gfx10-cu", "gfx10-cu-llvm19", "gfx11-cu"), 651),
    "gfx90a-tgsplit": 200,
    "gfx942": 438,
    "gfx942-tgsplit": 311,
}
"""How many tests of up to four events are explored, where some are of stronger instructions or of local memory."""


@pytest.mark.slow
def test_every_table_is_sound_up_to_four_events():
    result = synth("map", *TABLES, "--json")
    assert result.exit_code == 1
    record = json.loads(result.stdout)
    assert record["minimal"] == 327
    assert {table["to"]: table["explored"] for table in record["tables"]} == EXPLORED
    for table in record["tables"]:
        assert table["searched"] == 4
        assert len(table["bugs"]) == (8 if table["to"] in REACHED else 0)
        assert all(bug["kind"] == "shape" and bug["name"].startswith("ISA2-cta") for bug in table["bugs"])


def stated(name):
    with (Path(__file__).parent / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.slow
@pytest.mark.parametrize("row", stated("amdgpu_tables.csv"), ids=lambda row: row["table"])
def test_parts_of_a_table_are_needed_as_stated(row):
    path = next(path for path in TABLES if path.stem == row["table"])
    (table,) = json.loads(synth("map", path, "--weakest", "--json").stdout)["tables"]
    kinds = Counter(each["kind"] or "left" for each in table["weaker"])
    assert len(table["weaker"]) == int(row["deletions"])
    assert all(kinds[kind] == int(row[kind]) for kind in ("minimal", "stronger", "shape", "left"))
    left = [each["step"] for each in table["weaker"] if not each["bug"]]
    assert left == [part["part"] for part in stated("amdgpu_parts.csv") if part["table"] == row["table"]]
