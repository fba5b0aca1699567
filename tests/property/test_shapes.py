"""Tests of one shape are judged together as each is judged alone."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from litmus_models import LARGE

from corpus.dialects.registry import parse_litmus
from corpus.errors import InputError
from corpus.litmus.instructions import Fence, Instruction, Load, Rmw, Store, is_asynchronous
from corpus.litmus.orders import Order
from corpus.litmus.test import LitmusTest
from oracle.cat.interpreter import checked_model
from oracle.cat.syntax import parse_cat
from oracle.consistency import AxiomaticModel, resolve_consistency_models
from oracle.executions.events import VOCABULARY
from oracle.executions.judge import judge
from oracle.executions.shapes import judge_together
from synth.inputs import expand

EXAMPLES = sorted((Path(__file__).parents[2] / "examples" / "memory").glob("**/*.litmus"))
ONE_EVENT = "acyclic po-loc | rf | co | fr as coherence\nlet sw = [REL]; rf; [ACQ]\nacyclic po | sw | co as order\n"
ORDERS = {
    Load: (Order.WEAK, Order.RELAXED, Order.ACQUIRE, Order.SC),
    Store: (Order.WEAK, Order.RELAXED, Order.RELEASE, Order.SC),
    Rmw: (Order.RELAXED, Order.ACQUIRE, Order.RELEASE, Order.ACQ_REL, Order.SC),
    Fence: (Order.ACQUIRE, Order.RELEASE, Order.ACQ_REL, Order.SC),
}
"""What accesses and fences may be ordered as."""


def reordered(test: LitmusTest, rng: random.Random) -> LitmusTest:
    """The test with other memory orders."""

    def other(ins: Instruction) -> Instruction:
        if not isinstance(ins, Load | Store | Rmw | Fence) or rng.random() < 0.3:
            return ins
        return replace(ins, mode=replace(ins.mode, order=rng.choice(ORDERS[type(ins)])))

    threads = (replace(thread, instructions=tuple(map(other, thread.instructions))) for thread in test.threads)
    return replace(test, threads=tuple(threads))


def variants(more: int) -> Iterator[LitmusTest]:
    """Every example, and so many others of its shape."""
    rng = random.Random(0)
    for given in expand([str(path) for path in EXAMPLES]):
        test = given.litmus()
        yield test
        for _ in range(more):
            yield reordered(test, rng)


MODELS = [model for model in resolve_consistency_models() if isinstance(model, AxiomaticModel)]


@pytest.mark.one_in(7)
@pytest.mark.parametrize("more", [1, pytest.param(3, marks=pytest.mark.slow)])
@pytest.mark.parametrize("model", [pytest.param(each, marks=LARGE.get(each.name, ()), id=each.name) for each in MODELS])
def test_tests_of_one_shape_are_judged_as_alone(model: AxiomaticModel, more: int) -> None:
    tests = list(variants(more))
    found = judge_together(tests, model.model, 2)
    judged = 0
    for test, judgement in zip(tests, found, strict=True):
        if judgement is not None:
            assert judgement == judge(test, model.model), test
            judged += 1
    assert judged > len(tests) // 2


def test_under_a_model_in_which_an_update_is_one_event() -> None:
    model = checked_model("one", parse_cat(ONE_EVENT, "one.cat"), VOCABULARY)
    code = [(test, [i for thread in test.threads for i in thread.instructions]) for test in variants(3)]
    spoken = [(test, every) for test, every in code if not any(map(is_asynchronous, every))]
    tests = [test for test, every in spoken if any(isinstance(i, Rmw) for i in every)]
    found = judge_together(tests, model, 2)
    assert sum(judgement is not None for judgement in found) > len(tests) // 2
    assert all(judgement in (None, judge(test, model)) for test, judgement in zip(tests, found, strict=True))


def test_a_test_that_is_wrong_does_not_cost_the_others() -> None:
    text = EXAMPLES[0].read_text()
    good = parse_litmus(text)
    wrong = replace(good, locations=())
    model = MODELS[0].model
    assert judge_together([good, wrong, good], model, 2)[1] is None
    assert judge_together([good, wrong, good], model, 2)[2] == judge(good, model)
    with pytest.raises((InputError, KeyError)):
        judge(wrong, model)
