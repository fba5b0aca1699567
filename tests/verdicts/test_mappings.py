"""What ``synth map`` says of the mappings that ship, at sizes where it is known: mappings.csv.

``bug`` is the number of events of the smallest programs that show a mapping wrong; of none, the mapping is sound as far
as the options say. ``shows``: instructions that the first of them has, before or after. What is slow is marked.
"""

import csv
from pathlib import Path

import pytest
from click.testing import CliRunner

from synth.cli import main

HERE = Path(__file__).parent
MAPPINGS = HERE.parents[1] / "examples" / "mappings"

with (HERE / "mappings.csv").open(encoding="utf-8", newline="") as _file:
    TABLE = list(csv.DictReader(_file))


@pytest.mark.parametrize(
    "row",
    [
        pytest.param(row, id=f"{row['mapping']} {row['options']}", marks=[pytest.mark.slow] * (row["speed"] == "slow"))
        for row in TABLE
    ],
)
def test_what_is_said_of_a_mapping(row):
    words = ["map", str(MAPPINGS / f"{row['mapping']}.map"), *row["options"].split(), "-j", "1"]
    result = CliRunner().invoke(main, words, prog_name="synth", catch_exceptions=False)
    assert result.stderr == ""
    last = row["options"].split()[1].split("..")[-1]
    if row["bug"]:
        assert result.exit_code == 1 and f"of {row['bug']} events: " in result.stdout
        assert all(word in result.stdout for word in row["shows"].split())
    else:
        assert (result.exit_code, result.stdout.splitlines()[-1]) == (0, f"sound up to {last} events")


def test_every_mapping_has_a_row():
    assert {row["mapping"] for row in TABLE} == {path.stem for path in MAPPINGS.glob("*.map")}
