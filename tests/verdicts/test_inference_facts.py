"""Published verdicts that models are inferred from, held by the models that they were published for.

``examples/inference/x86`` has the examples of Intel's manual and the tests of x86-TSO, each with its source.
``examples/inference/power`` has tests by hand, and ``power.csv`` cycles by their names in diy, with what the model of
Herding Cats says of them. Source: herdtools7, ``catalogue/herding-cats/ppc/tests/ppc.allowed``, column Power-Model. Of
that table's 8,141 tests 7,428 were translated once (the others have eieio, accesses of other sizes or addresses with an
offset), and all of these agree; here are those that our edges name.
"""

import csv
from functools import cache
from pathlib import Path

import pytest

from constraints.cycles import CycleBounds, cycles
from corpus.cycles.cycle import cycle_name, litmus_test, oriented
from corpus.cycles.edges import parse_edges
from corpus.dialects.registry import read_litmus
from oracle.consistency import resolve_consistency_models

ROOT = Path(__file__).parents[2]
FACTS = ROOT / "examples" / "inference"


def _rows(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@cache
def model(name):
    return resolve_consistency_models([name])[0]


POWER = str(ROOT / "examples" / "models" / "power.cat")


@pytest.mark.parametrize(("folder", "name", "count"), [("x86", "tso", 34), ("power", POWER, 10)], ids=["x86", "power"])
def test_a_model_says_what_was_published_for_it(folder, name, count):
    expected = {row["file"]: row["verdict"] for row in _rows(FACTS / folder / "tests.csv")}
    files = sorted((FACTS / folder).glob("*.litmus"))
    assert {path.name: model(name).judge(read_litmus(path)).answer.value for path in files} == expected
    assert len(expected) == count and set(expected.values()) == {"ALLOWED", "FORBIDDEN"}


def test_the_cycles_of_power_have_the_verdicts_of_herding_cats():
    published = {row["name"]: row["verdict"] for row in _rows(ROOT / "tests" / "verdicts" / "power.csv")}
    bounds = CycleBounds(parse_edges((FACTS / "power.edges").read_text(encoding="utf-8")))
    found = {}
    for cycle in (oriented(cycle) for size in range(4, 7) for cycle in cycles(bounds, size)):
        name = cycle_name(cycle).replace("fence.acq_rel.sys", "lwsync").replace("membar.sys", "sync")
        if name in published:
            found[name] = model(POWER).judge(litmus_test(cycle)).answer.value
    assert found == published
    assert len(published) == 582
