"""Models that are instances of a sketch, held against the models that ship."""

from functools import cache
from pathlib import Path

import pytest
from planted import planted_models

from corpus.dialects.registry import read_litmus
from corpus.errors import InputError
from oracle.consistency import resolve_consistency_models
from oracle.executions.judge import judge
from oracle.inference.verdicts import allowing

ROOT = Path(__file__).parents[2]
PLANTED = planted_models()
KNOWN = [each for each in PLANTED if each.model]


@cache
def examples():
    folders = ("memory", "memory/c11", "inference/x86", "inference/power")
    found = [path for folder in folders for path in sorted((ROOT / "examples" / folder).glob("*.litmus"))]
    return [read_litmus(path) for path in found]


@pytest.mark.parametrize("planted", KNOWN, ids=lambda planted: planted.name)
def test_a_filling_is_the_model_that_ships(planted):
    sketch = planted.resolved()
    name = str(ROOT / planted.model) if planted.model.endswith(".cat") else planted.model
    (model,) = resolve_consistency_models([name])
    filled = sketch.filled(planted.filling(sketch))
    verdicts = set()
    for test in examples()[::2]:
        expected = model.judge(test)
        if any("barriers" in flag or "acquire-release" in flag for flag in expected.flags):
            continue  # what ptx-rmo and rmo do not speak of
        assert judge(test, filled).answer == expected.answer, test.name
        verdicts.add(expected.answer.value)
    assert verdicts == {"ALLOWED", "FORBIDDEN"}


@pytest.mark.parametrize("planted", PLANTED, ids=lambda planted: planted.name)
def test_a_filling_is_in_the_set_of_models_that_allow_what_it_allows(planted):
    sketch = planted.resolved()
    filling = planted.filling(sketch)
    filled, values = sketch.filled(filling), sketch.values(filling)
    said = set()
    for test in examples()[::4]:
        try:
            allowed = values in allowing(test, sketch)
        except InputError:
            continue
        assert allowed == (judge(test, filled).answer.value == "ALLOWED"), test.name
        said.add(allowed)
    assert said == {True, False}


def test_twelve_models_and_more_are_planted():
    assert len({planted.name for planted in PLANTED}) == len(PLANTED) >= 12
    assert {planted.sketch for planted in PLANTED} == {"cpu", "power", "gpu", "c11"}
