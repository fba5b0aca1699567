"""What is said of the locks, queues and scans of ``examples/locks``: the same in PTX, OpenCL and Vulkan (locks.csv).

``consistency`` is the verdict of the dialect's own model on the bad outcome that the test asks about; under each
guarantee stand two letters, weak and strong: T terminates, H may hang.
"""

import csv
from pathlib import Path

import pytest

from corpus.dialects.registry import read_litmus
from oracle.consistency import model_names, resolve_consistency_models
from oracle.progress.litmus import explore_litmus
from oracle.progress.models import GUARANTEES, Verdict, system_verdicts
from synth.memory.judging import judge_with
from synth.requests import AUTO

HERE = Path(__file__).parent
EXAMPLES = HERE.parents[1] / "examples" / "locks"
MODELS = {"": "ptx-6.0", "cl-": "rc11-scoped", "vk-": "vulkan"}
QUICK = {"ticket-lock", "queue", "lookback-static", "lookback-dynamic", "spinlock-exch", "spinlock-relaxed"}
BOUNDED = {"rw-lock", "deque"}
"""FORBIDDEN as far as loops were followed: their rounds do something that others see."""
LETTERS = {Verdict.TERMINATES: "T", Verdict.MAY_HANG: "H"}

with (HERE / "locks.csv").open(encoding="utf-8", newline="") as _file:
    TABLE = list(csv.DictReader(_file))


@pytest.mark.parametrize("prefix", MODELS)
@pytest.mark.parametrize("row", TABLE, ids=lambda row: row["test"])
def test_progress(prefix, row):
    system = explore_litmus(read_litmus(EXAMPLES / f"{prefix}{row['test']}.litmus"))
    said = system_verdicts(system.successors)
    for name in GUARANTEES:
        assert "".join(LETTERS[said[f"{name}-{reading}"]] for reading in ("weak", "strong")) == row[name], name


@pytest.mark.parametrize(
    ("prefix", "row"),
    [
        pytest.param(
            prefix,
            row,
            id=f"{prefix}{row['test']}",
            marks=[] if row["test"] in QUICK and prefix != "vk-" else [pytest.mark.slow],
        )
        for prefix in MODELS
        for row in TABLE
        if MODELS[prefix] in model_names()
    ],
)
def test_consistency(prefix, row):
    (model,) = resolve_consistency_models([MODELS[prefix]])
    test = read_litmus(EXAMPLES / f"{prefix}{row['test']}.litmus")
    judgement = judge_with(test, model, AUTO, 2)
    assert judgement.answer == row["consistency"]
    assert judgement.provisional is (row["test"] in BOUNDED)


def test_each_example_has_its_row_and_the_other_way_round():
    expected = {f"{prefix}{row['test']}" for prefix in MODELS for row in TABLE}
    assert {path.stem for path in EXAMPLES.glob("*.litmus")} == expected
