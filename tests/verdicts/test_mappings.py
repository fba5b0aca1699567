"""What ``synth map`` says of the mappings that ship, at sizes where it is known: mappings.csv.

``bug`` is the number of events of the smallest programs that show a mapping wrong; of none, the mapping is sound as far
as the options say. Without options, the bound is the mapping's own. ``shows``: instructions that the first of them has,
before or after. What is slow is marked. What the sizes do not exercise is left to other tests.
"""

import csv
from pathlib import Path

import pytest
from commands import synth

HERE = Path(__file__).parent
MAPPINGS = HERE.parents[1] / "examples" / "mappings"

with (HERE / "mappings.csv").open(encoding="utf-8", newline="") as _file:
    TABLE = list(csv.DictReader(_file))


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "row",
    [
        pytest.param(row, id=f"{row['mapping']} {row['options']}", marks=[pytest.mark.slow] * (row["speed"] == "slow"))
        for row in TABLE
    ],
)
def test_what_is_said_of_a_mapping(row, monkeypatch):
    monkeypatch.setattr("synth.commands.map.search_features", lambda *arguments: None)
    words = ["map", str(MAPPINGS / f"{row['mapping']}.map"), *row["options"].split(), "-j", "1"]
    result = synth(*words)
    assert result.stderr == ""
    if row["bug"]:
        assert result.exit_code == 1 and f"of {row['bug']} events: " in result.stdout
        assert all(word in result.stdout for word in row["shows"].split())
    else:
        options = row["options"].split()
        asked = dict(zip(options[::2], options[1::2], strict=True))
        parts = [
            f"{name} {asked[f'--{name}'].replace(',', ' ')}" for name in ("threads", "scopes") if f"--{name}" in asked
        ]
        within = f" ({', '.join(parts)})" if parts else ""
        last = asked["--events"].split("..")[-1]
        assert (result.exit_code, result.stdout.splitlines()[-1]) == (0, f"sound up to {last} events{within}")


def test_every_mapping_has_a_row():
    assert {row["mapping"] for row in TABLE} == {path.stem for path in MAPPINGS.glob("*.map")}
