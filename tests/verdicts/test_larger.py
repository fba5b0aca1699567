"""What is said of the programs of ``examples/locks/larger``: locks of three threads, barriers of six, scans of twelve.

``larger.csv`` has a line for each test and model, with about how many seconds it takes; those of more than a few are
slow tests. ``benchmarks/oracle.py larger`` measures seconds and memory.
"""

import csv
from pathlib import Path

import pytest

from corpus.dialects.registry import read_litmus
from oracle.consistency import model_names, resolve_consistency_models
from oracle.liveness import is_liveness_model, resolve_liveness_models
from synth.memory.judging import judge_with
from synth.memory.liveness import liveness_label
from synth.requests import AUTO

EXAMPLES = Path(__file__).parents[2] / "examples" / "locks" / "larger"

with Path(__file__).with_name("larger.csv").open(encoding="utf-8", newline="") as _file:
    TABLE = list(csv.DictReader(_file))


@pytest.mark.parametrize(
    "row",
    [
        pytest.param(
            row, id=f"{row['larger']}, {row['model']}", marks=[pytest.mark.slow] if int(row["seconds"]) > 1 else []
        )
        for row in TABLE
        if row["model"].rpartition(" ")[2] in model_names()
    ],
)
def test_verdict(row):
    test = read_litmus(EXAMPLES / f"{row['larger']}.litmus")
    if is_liveness_model(row["model"]):
        (model,) = resolve_liveness_models([row["model"]])
        assert liveness_label(test, model, AUTO, 2).verdict == row["verdict"]
    else:
        (model,) = resolve_consistency_models([row["model"]])
        assert judge_with(test, model, AUTO, 2, counts=False).answer == row["verdict"]


def test_each_example_is_in_the_table():
    assert {path.stem for path in EXAMPLES.glob("*.litmus")} == {row["larger"] for row in TABLE}
