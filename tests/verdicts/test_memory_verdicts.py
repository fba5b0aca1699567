"""Every verdict on a litmus test that the papers state, with its page, table or figure, held by the oracle.

A table for each source, which is any here that begins with these columns; a row names a test of
``examples/memory``, a model and the verdict, and in some tables whether the test has a data race.
"""

import csv
from pathlib import Path

import pytest

from corpus.dialects.registry import read_litmus
from oracle.consistency import AxiomaticModel, resolve_consistency_models
from oracle.executions.judge import Answer

HERE = Path(__file__).parent
EXAMPLES = HERE.parents[1] / "examples" / "memory"
COLUMNS = ["test", "model", "verdict"]
AXIOMATIC = [model for model in resolve_consistency_models() if isinstance(model, AxiomaticModel)]


def _rows(source):
    with (HERE / f"{source}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


TABLES = [rows for rows in map(_rows, sorted(path.stem for path in HERE.glob("*.csv"))) if [*rows[0]][:3] == COLUMNS]
TABLE = [row for rows in TABLES for row in rows]


@pytest.mark.parametrize("row", TABLE, ids=lambda row: f"{row['test']}-{row['model']}")
def test_the_oracle_says_what_the_paper_says(row):
    name = row["model"]
    (model,) = resolve_consistency_models([str(HERE.parents[1] / name) if name.endswith(".cat") else name])
    judgement = model.judge(read_litmus(EXAMPLES / f"{row['test']}.litmus"))
    assert judgement.answer == row["verdict"], row["source"]
    if "race" in row:
        assert judgement.flags == (("data-race",) if row["race"] == "yes" else ()), row["source"]


def test_each_verdict_is_stated_once_and_has_a_source():
    stated = [(row["test"], row["model"]) for row in TABLE]
    assert len(stated) == len(set(stated))
    assert all(row["source"] for row in TABLE)
    assert {row["verdict"] for row in TABLE} == {"ALLOWED", "FORBIDDEN"}
    assert {row["race"] for row in TABLE if "race" in row} == {"yes", "no"}


@pytest.mark.parametrize(
    ("model", "unstated"),
    [("amdgpu", set()), ("ptx", set()), ("vulkan", set()), ("webgpu", {"webgpu/beyond-release"})],
)
def test_examples_of_a_model_have_stated_verdicts(model, unstated):
    stated = {row["test"] for row in TABLE if row["model"] == model and row["test"].startswith(f"{model}/")}
    assert stated == {f"{model}/{path.stem}" for path in (EXAMPLES / model).glob("*.litmus")} - unstated


def test_what_is_beyond_wgsl_is_flagged():
    (model,) = resolve_consistency_models(["webgpu"])
    judgement = model.judge(read_litmus(EXAMPLES / "webgpu" / "beyond-release.litmus"))
    assert "no-ordered-atomics-in-wgsl" in judgement.flags


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.litmus")), ids=lambda path: path.stem)
def test_an_example_has_a_verdict_under_every_axiomatic_model(path):
    """Whether a paper states it or not."""
    test = read_litmus(path)
    for model in AXIOMATIC:
        judgement = model.judge(test)
        assert judgement.answer is not Answer.UNKNOWN and not judgement.bounded, model.name


@pytest.mark.parametrize("row", _rows("flags"), ids=lambda row: f"{row['test']}-{row['model']}")
def test_a_model_flags_what_the_specification_leaves_undefined(row):
    (model,) = resolve_consistency_models([row["model"]])
    assert " ".join(model.judge(read_litmus(EXAMPLES / f"{row['test']}.litmus")).flags) == row["flags"], row["source"]
