"""What C and OpenCL have and no other dialect: the verdict is one, however it is found, and so is the text."""

from dataclasses import replace
from random import Random

import pytest
import reference_herd
from litmus_models import grounded, shipped
from litmus_random import C_WHOLE, OPENCL_WHOLE, random_test

from constraints.executions import judge_by_sat
from constraints.smt import judge_by_smt
from corpus.dialects.registry import DIALECTS, parse_litmus
from corpus.errors import InputError
from corpus.litmus.instructions import Rmw, sides_of
from corpus.litmus.normal import litmus_digest
from oracle.executions.judge import judge, outcomes
from oracle.executions.values import Address

MODELS = shipped()
PROFILES = {"c": C_WHOLE, "opencl": OPENCL_WHOLE}


def random_tests(dialect, count, events):
    for number in range(count):
        yield random_test(Random(f"whole {dialect} {number}"), replace(PROFILES[dialect], events=events))


def said(judgement):
    return judgement.answer, judgement.condition, frozenset(judgement.flags)


@pytest.mark.parametrize("dialect", PROFILES)
def test_texts_are_read_back(dialect):
    tests = list(random_tests(dialect, 300, 6))
    code = [ins for test in tests for thread in test.threads for ins in thread.instructions]
    assert any(isinstance(ins, Rmw) and ins.failure for ins in code) and sum(map(bool, map(sides_of, code))) > 100
    refused = 0
    for test in tests:
        try:
            text = DIALECTS[dialect].print(test)
        except InputError:  # an exchange into the register that its new value is in
            refused += 1
            continue
        assert litmus_digest(parse_litmus(text)) == litmus_digest(test), test
    assert refused < 5


@pytest.mark.parametrize(("dialect", "name"), [("c", "c11"), ("opencl", "opencl"), ("c", "rc11")])
def test_the_methods_agree(dialect, name):
    model = MODELS[name]
    for number, test in enumerate(random_tests(dialect, 80, 6)):
        listed = said(judge(test, model))
        assert said(judge_by_sat(test, model)) == listed, test
        if number < 20:
            assert said(judge_by_smt(test, model)) == listed, test


@pytest.mark.parametrize(("dialect", "name"), [("c", "c11"), ("opencl", "opencl")])
def test_a_naive_reading_agrees(dialect, name):
    model = grounded(MODELS[name])
    for test in random_tests(dialect, 50, 5):
        expected = reference_herd.judge(test, model.syntax)
        found = judge(test, model)
        assert (found.executions, found.matching) == (expected.executions, expected.matching), test
        finals = frozenset(frozenset(map(_plain, final)) for final in outcomes(test, model))
        assert finals == expected.outcomes, test


def _plain(final):
    term, value = final
    return term, (value.location, value.offset) if isinstance(value, Address) else value
