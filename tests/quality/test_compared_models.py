"""The models that ship, compared two by two: the smallest tests between them, or up to which size there is none.

Every difference is one that the oracle sees as well, by listing the executions of the test that is printed.
"""

from __future__ import annotations

import pytest

from corpus.dialects.registry import parse_litmus
from oracle.cat.syntax import shipped_models
from oracle.consistency import load_model, resolve_consistency_models
from oracle.executions.judge import Answer, judge
from oracle.executions.vocabulary import vocabulary_of
from synth.memory.comparison import Differences, ModelComparison, compare
from synth.memory.suites import axiomatic
from synth.units import Unwritten

SMALLEST = {
    ("sc", "tso"): (0, []),
    ("tso", "sc"): (4, ["SB", "R"]),
    ("tso", "rmo"): (0, []),
    ("rmo", "tso"): (3, ["CoRR"]),
    ("rmo", "ptx-rmo"): (0, []),
    ("ptx-rmo", "rmo"): (3, ["U.W@0--1"]),
    ("ptx-rmo", "ptx-6.0"): (3, ["CoRR+rlx.cta+rlx.cta-plain@01", "U.W+rmw.rlx.sys+rlx.sys@0--1"]),
    ("ptx-6.0", "ptx-rmo"): (3, ["CoRR+addrs@0--1", "CoRW@0--1", "CoWR@0--1"]),
    ("rc11", "rc11-scoped"): (0, []),
    ("rc11-scoped", "rc11"): (4, ["LB+rlx.cta-rlx.cta+rlx.cta-rlx.cta@01"]),
    ("thesis-strong-axiomatic", "sc"): (4, ["MP", "LB", "S", "SB", "R", "2+2W"]),
    ("sc", "thesis-strong-axiomatic"): (0, []),
}
"""What the first allows and the second forbids: the size of the smallest tests, their names; 0 where there is none."""

PAIRS = [pair for number, pair in enumerate(SMALLEST) if number % 2 == 0]
FAST = 4
FAR = {pair: 5 if pair == ("rc11", "rc11-scoped") else 6 for pair in PAIRS}
"""Sizes up to which there is no test where the table has none: in the fast tests, and in the slow ones.

Between rc11 and rc11-scoped there is none of six events either, which takes a quarter of an hour.
"""


def differences(one: str, other: str, events: int) -> Differences:
    """The smallest tests between two models, both ways."""
    models = tuple(resolve_consistency_models((one, other)))
    words = vocabulary_of([axiomatic(model) for model in models])
    comparison = ModelComparison(models, words, (1, events), both_ways=True)
    done = Differences.none(comparison)
    for _ in compare(comparison, Unwritten(), "minisat22", 1, done):
        pass
    return done


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_smallest_tests_between_models(one, other):
    found = differences(one, other, FAST)
    for pair in ((one, other), (other, one)):
        size, names = SMALLEST[pair]
        tests = found.tests[pair]
        assert {test.size for test in tests} == ({size} if size else set())
        assert [test.name for test in tests] == names
        assert found.searched[pair] == (size or FAST)
        for test in tests:
            allows, forbids = (load_model(shipped_models()[name], name) for name in pair)
            assert judge(parse_litmus(test.text), allows).answer is Answer.ALLOWED
            assert judge(parse_litmus(test.text), forbids).answer is Answer.FORBIDDEN


@pytest.mark.slow
@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_no_test_between_models_further_up(one, other):
    found = differences(one, other, FAR[one, other])
    for pair in ((one, other), (other, one)):
        size = SMALLEST[pair][0]
        assert bool(found.tests[pair]) == bool(size)
        assert found.searched[pair] == (size or FAR[one, other])
