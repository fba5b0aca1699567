"""A consistency model of one's own in a .cat file labels the examples; a wrong one is one line, exit code 2."""

import csv
import io
import json
from pathlib import Path

import pytest
from commands import printed

from corpus.dialects.registry import read_litmus
from oracle.cat.syntax import read_cat
from oracle.cat.terms import ModelCheck
from oracle.consistency import load_model
from oracle.executions.judge import outcomes

EXAMPLES = Path(__file__).parents[2] / "examples"
MINE = EXAMPLES / "models" / "my-model.cat"


def test_it_uses_the_whole_language():
    syntax = read_cat(str(MINE))
    definitions = [statement for statement in syntax.statements if not isinstance(statement, ModelCheck)]
    assert any(definition.recursive and len(definition.bindings) > 1 for definition in definitions)
    assert any(binding.parameters for definition in definitions for binding in definition.bindings)
    assert any(binding.position.path != str(MINE) for definition in definitions for binding in definition.bindings)
    assert any(isinstance(statement, ModelCheck) and statement.flag for statement in syntax.statements)


def test_it_labels_every_example():
    rows = list(csv.DictReader(io.StringIO(printed("label", EXAMPLES / "memory", "--model", MINE, "--format", "csv"))))
    files = [Path(row["file"]) for row in rows]
    assert sorted(files) == sorted(EXAMPLES.glob("memory/**/*.litmus"))
    assert {row["model"] for row in rows} == {"my-model"}
    said = {Path(row["file"]).stem: row["verdict"] for row in rows}
    assert set(said.values()) == {"ALLOWED", "FORBIDDEN", "UNKNOWN"}  # which is that of asynchronous operations
    expected = {
        "mp-acq-rel": "FORBIDDEN",
        "mp-acq-rel-cta": "ALLOWED",  # not mutually in scope
        "mp-rmw-between": "FORBIDDEN",  # observed through an atomic operation
        "mp-weak": "ALLOWED",
        "sb-acq-rel": "ALLOWED",
        "sb-fence-sc": "FORBIDDEN",
        "lb-inter": "ALLOWED",
        "coRR": "FORBIDDEN",
    }
    assert {name: said[name] for name in expected} == expected


def test_its_flag_is_told():
    weak, volatile = EXAMPLES / "memory" / "mp-weak.litmus", EXAMPLES / "memory" / "mp-volatile.litmus"
    lines = printed("label", weak, volatile, "--model", MINE, "--json").splitlines()
    assert [json.loads(line)["verdicts"]["my-model"]["flags"] for line in lines] == [["race"], []]


@pytest.mark.parametrize("method", ["enumerate", "sat", "smt"])
def test_every_method_takes_it(method):
    tests = [EXAMPLES / "memory" / f"{name}.litmus" for name in ("mp-acq-rel", "mp-rmw-between", "sb-acq-rel")]
    text = printed("label", *tests, "--model", MINE, "--format", "csv", "--method", method)
    assert [row["verdict"] for row in csv.DictReader(io.StringIO(text))] == ["FORBIDDEN", "FORBIDDEN", "ALLOWED"]


def test_a_model_of_ones_own_may_include_one_that_ships(tmp_path):
    mine = tmp_path / "strict.cat"
    mine.write_text('include "ptx-6.0.cat"\nacyclic po | rf as no-load-buffering\n')
    model, shipped = load_model(str(mine)), load_model(str(EXAMPLES.parent / "oracle" / "models" / "ptx-6.0.cat"))
    assert model.partial_co and model.mentions("sync_fence")
    for name, fewer in (("lb-inter", True), ("mp-weak", False)):
        test = read_litmus(EXAMPLES / "memory" / f"{name}.litmus")
        assert (outcomes(test, model) < outcomes(test, shipped)) is fewer
        assert outcomes(test, model) <= outcomes(test, shipped)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("acyclic po | roof as mine", "bad.cat:1:14: unknown name 'roof'"),
        ("let hb = po\nacyclic W as mine", "bad.cat:2:9: expected a relation, found a set"),
        ('include "gone.cat"', "bad.cat:1:9: cannot include gone.cat"),
        ("acyclic (po", "bad.cat:1:12: expected"),
    ],
)
def test_a_wrong_model_is_one_line(tmp_path, text, error):
    path = tmp_path / "bad.cat"
    path.write_text(text)
    message = printed("label", EXAMPLES / "memory" / "coRR.litmus", "--model", path, exit_code=2)
    assert error in message and message.count("\n") == 1
