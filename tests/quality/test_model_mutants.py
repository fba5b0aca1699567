"""Slips in models show: how many mutants of a model the examples alone tell from it.

Whoever wrote the examples had other questions, so these are counts of what is found by chance, and no more is asked of
them than that they do not shrink.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest
from model_mutants import Mutant, mutants

from corpus.dialects.registry import read_litmus
from corpus.litmus.test import LitmusTest
from oracle.cat.interpreter import Model, checked_model
from oracle.cat.syntax import parse_cat, shipped_models
from oracle.consistency import load_model
from oracle.executions.events import VOCABULARY
from oracle.executions.judge import UNROLL, Answer, is_quick_to_list, judge

EXAMPLES = Path(__file__).parents[2] / "examples" / "memory"

TOLD = {
    "ptx-6.0": 65,
    "ptx-rmo": 28,
    "rc11": 39,
    "rc11-scoped": 37,
    "rmo": 23,
    "sc": 8,
    "thesis-strong-axiomatic": 22,
    "tso": 20,
}
"""Mutants, of slips other than a lost link, that some example tells from their parent."""


def model_of(mutant: Mutant) -> Model:
    """The mutant as a model."""
    return checked_model("mutant", parse_cat(mutant.text, "mutant.cat"), VOCABULARY)


@cache
def examples() -> tuple[LitmusTest, ...]:
    """The examples whose executions are quick to list under any model."""
    widest = load_model(shipped_models()["ptx-6.0"])  # writes may stay unordered: no model has more candidates
    tests = (read_litmus(path) for path in sorted(EXAMPLES.glob("*.litmus")))
    return tuple(test for test in tests if is_quick_to_list(test, widest, UNROLL))


@cache
def answer(test: LitmusTest, model: Model) -> Answer:
    """What a model says of a test."""
    return judge(test, model).answer


def telling(parent: Model, other: Model, tests: Sequence[LitmusTest]) -> LitmusTest | None:
    """The first of the tests of which two models do not say the same."""
    return next((test for test in tests if answer(test, parent) is not judge(test, other).answer), None)


@pytest.mark.slow
@pytest.mark.parametrize("name", shipped_models())
def test_examples_tell_mutants_from_their_parent(name: str) -> None:
    parent = load_model(shipped_models()[name], name)
    slips = [mutant for mutant in mutants(name) if mutant.slip != "link"]
    told = [mutant for mutant in slips if telling(parent, model_of(mutant), examples()) is not None]
    assert len(told) >= TOLD[name]
