"""What is said of the programs of ``examples/subgroups`` as their lanes step (subgroup_stepping.csv).

Under each guarantee stand two letters, weak and strong: T terminates, H may hang, ? has no verdict. The verdicts were
derived by hand, for the reasons given.
"""

import csv
from functools import reduce
from operator import or_
from pathlib import Path

import pytest

from corpus.dialects.registry import read_litmus
from oracle.progress.models import STEPPINGS, Verdict
from oracle.progress.plugins import resolve_models
from oracle.progress.stepping import explain_stepping, stepping_verdicts
from oracle.progress.subgroups import subgroups

HERE = Path(__file__).parent
EXAMPLES = HERE.parents[1] / "examples" / "subgroups"
LETTERS = {Verdict.TERMINATES: "T", Verdict.MAY_HANG: "H"}
GUARANTEES = ("hsa", "obe", "fair")

with (HERE / "subgroup_stepping.csv").open(encoding="utf-8", newline="") as _file:
    TABLE = list(csv.DictReader(_file))


def models(stepping):
    return resolve_models([f"{name} & {stepping}" for name in GUARANTEES], lanes=True)


@pytest.mark.parametrize("row", TABLE, ids=lambda row: f"{row['test']}-{row['stepping']}")
def test_verdicts(row):
    found = stepping_verdicts(read_litmus(EXAMPLES / f"{row['test']}.litmus"), models(row["stepping"]))
    for name in GUARANTEES:
        said = (found[f"{name}-{reading} & {row['stepping']}"] for reading in ("weak", "strong"))
        assert "".join(LETTERS[one] if isinstance(one, Verdict) else "?" for one in said) == row[name], name


def test_each_example_and_each_stepping_has_rows():
    assert {row["test"] for row in TABLE} == {path.stem for path in EXAMPLES.glob("*.litmus")}
    assert {row["stepping"] for row in TABLE} == set(STEPPINGS)
    assert len({(row["test"], row["stepping"]) for row in TABLE}) == len(TABLE) >= 25


@pytest.mark.parametrize("row", TABLE, ids=lambda row: f"{row['test']}-{row['stepping']}")
def test_a_lasso_is_a_run_that_keeps_the_promise(row):
    test = read_litmus(EXAMPLES / f"{row['test']}.litmus")
    for model in models(row["stepping"]) if row["fair"] != "??" else ():
        explanation = explain_stepping(test, model)
        letter = row[model.name.partition("-")[0]][model.strong]
        lasso, graph = explanation.lasso, explanation.graph
        assert ("H" if lasso else "T") == letter
        if lasso is None:
            assert all(way.leaving for way in explanation.exits) or model.stepping in ("independent", "maximal")
            continue
        run = (*lasso.stem, *lasso.cycle)
        assert [step.target for step in run[:-1]] == [step.source for step in run[1:]]
        assert run[0].source == 0 and run[-1].target == lasso.cycle[0].source
        assert all(graph.successors[step.source][step.thread] == step.target for step in run)
        groups = subgroups(graph.lts.places) if model.stepping.startswith("lockstep") else ()
        masks = [sum(1 << lane for lane in lanes) for lanes in groups] or [1 << t for t in range(len(test.threads))]
        nodes = [step.source for step in lasso.cycle]
        for mask in masks:
            owed = [node for node in nodes if graph.promised[node] & mask]
            if model.strong:
                assert all(
                    any(step.source == node and mask >> step.thread & 1 for step in lasso.cycle) for node in owed
                )
            elif len(owed) == len(nodes):
                assert mask & reduce(or_, (1 << step.thread for step in lasso.cycle))
