"""Tables of code sequences under ``synth map`` up to four events: all are sound so far, and shapes beyond break some."""

import json
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
