"""LLVM's tables of code sequences on the machines that its documentation describes: what is forbidden is not reached.

``amdgpu_sequences.csv`` has single deletions, each refuted by a shape of ``corpus.executions.shapes``, or redundant for
all of them.
"""

import csv
from collections import Counter
from pathlib import Path

import pytest
from commands import synth

from corpus.dialects.registry import parse_litmus, read_litmus
from corpus.executions.sequences import read_table
from corpus.executions.shapes import shapes
from corpus.journal import read_corpus
from corpus.litmus.locations import Region
from oracle.consistency import resolve_consistency_models
from oracle.operational.deletions import deletions, is_reached

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SOUND = ("gfx90a-tgsplit", "gfx942-tgsplit", "gfx10-wgp", "gfx10-cu", "gfx12-wgp", "gfx12-cu")
NOT_TRANSITIVE = ("gfx90a", "gfx942", "gfx10-cu-llvm19")
"""Tables in which a release of work-group scope does not wait for what its wavefront has stored."""
SHAPES = {test.name: test for test in shapes()}
HANDED_ON = [name for name in SHAPES if name.startswith(("ISA2-cta-gpu", "ISA2-cta-sys"))]
"""A work-group hands on, to a wider scope, what it was handed at its own."""


def table(name):
    path = ROOT / "examples" / "sequences" / f"{name}.seq"
    return read_table(path.read_text(encoding="utf-8"), str(path))


def said(name):
    """The shapes that a machine can run: there is no local memory in tgsplit mode."""
    local = [test.name for test in SHAPES.values() if any(each.region is Region.SHARED for each in test.locations)]
    return [each for each in SHAPES if "tgsplit" not in name or each not in local]


def stated():
    with (HERE / "amdgpu_sequences.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("name", [*SOUND, *NOT_TRANSITIVE])
def test_no_forbidden_outcome_of_some_shapes_is_reached(name):
    read = table(name)
    chosen = [each for each in said(name)[::13] if name in SOUND or each not in HANDED_ON]
    assert [each for each in chosen if is_reached(SHAPES[each], read)] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", [*SOUND, *NOT_TRANSITIVE])
def test_no_forbidden_outcome_of_any_shape_is_reached(name):
    read = table(name)
    expected = [] if name in SOUND else HANDED_ON
    assert [each for each in said(name) if is_reached(SHAPES[each], read)] == expected


@pytest.mark.slow
def test_no_minimal_test_of_up_to_three_events_is_reached(tmp_path):
    assert synth("memory", "--from", "amdgpu", "--events", "2..3", "-j", 1, "-o", tmp_path / "suite").exit_code == 0
    tests = [parse_litmus(test.text) for test in read_corpus(tmp_path / "suite").tests]
    assert len(tests) == 28
    for name in (*SOUND, *NOT_TRANSITIVE):
        read = table(name)
        assert [test.name for test in tests if is_reached(test, read)] == [], name


@pytest.mark.parametrize("name", NOT_TRANSITIVE)
def test_a_release_of_work_group_scope_that_waits_for_no_store_is_not_transitive(name):
    read = table(name)
    assert len(HANDED_ON) == 8 and all(is_reached(SHAPES[each], read) for each in HANDED_ON)
    example = read_litmus(ROOT / "examples" / "memory" / "amdgpu" / "barrier-wider.litmus")
    assert is_reached(example, read) and not is_reached(example, table("gfx10-cu"))


def test_the_model_forbids_each_shape():
    (model,) = resolve_consistency_models(["amdgpu"])
    for name in [*SHAPES][::17] + HANDED_ON:
        judgement = model.judge(SHAPES[name])
        assert judgement.answer == "FORBIDDEN", name


@pytest.mark.slow
def test_the_model_forbids_every_shape():
    (model,) = resolve_consistency_models(["amdgpu"])
    assert [name for name, test in SHAPES.items() if model.judge(test).answer != "FORBIDDEN"] == []


@pytest.mark.parametrize("row", stated(), ids=lambda row: f"{row['table']}-{row['row']}-{row['part']}")
def test_a_part_less_is_refuted(row):
    found = [
        each.table
        for each in deletions(table(row["table"]))
        if (f"{each.row.kind}.{each.row.order}.{each.row.scope}".rstrip("."), each.row.space, each.part)
        == (row["row"].partition(" @")[0], row["row"].partition(" @")[2], row["part"])
    ]
    assert len(found) >= 1
    if row["verdict"] == "refuted":
        assert is_reached(SHAPES[row["shape"]], found[0])
    else:
        assert row["reason"]


def test_enough_is_stated():
    assert Counter(row["verdict"] for row in stated())["refuted"] >= 30
