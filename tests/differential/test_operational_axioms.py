"""The strong model of Sorensen 2013 as a transition system, against axiomatic models, over all small tests.

``thesis-strong-axiomatic.cat`` has the same outcomes on every test. How the models of other papers differ from it on
the smallest tests is listed in ``tests/golden/operational``.
"""

import random

import pytest
from litmus_code import program
from litmus_small import operational_outcomes, small_tests

from oracle.cat.syntax import shipped_models
from oracle.consistency import load_model
from oracle.executions.judge import outcomes


def model(name):
    return load_model(shipped_models()[name], name)


def axiomatic_outcomes(test, cat):
    return frozenset(tuple(value for _, value in final) for final in outcomes(test, cat))


def random_program(rng):
    """Two to four threads of loads, stores and membars, small enough to list its executions."""
    while True:
        columns, stored = [], 0
        for _ in range(rng.choice([2, 3, 3, 4])):
            body, loaded = [], 0
            for _ in range(rng.choice([1, 2, 3, 3])):
                match rng.choice(["ld", "ld", "st", "st", "cta", "gl"]):
                    case "ld":
                        body.append(f"ld r{loaded} {rng.choice('xy')}")
                        loaded += 1
                    case "st":
                        stored += 1
                        body.append(f"st {rng.choice('xy')} {stored}")
                    case fence:
                        body.append(fence)
            columns.append("; ".join(body))
        text = " | ".join(columns)
        if 0 < text.count("ld") <= 5 and text.count("st x") < 4 and text.count("st y") < 4:
            return program(text, tuple(rng.choice([0, 0, 1, 2]) for _ in columns))


def differences(tests, cat):
    return [test.name for test in tests if operational_outcomes(test, strong=True) != axiomatic_outcomes(test, cat)]


def test_the_axioms_have_the_outcomes_of_the_transition_system():
    cat = model("thesis-strong-axiomatic")
    tests = list(small_tests(2, 2))
    assert len(tests) == 220
    assert differences(tests, cat) == []
    rng = random.Random(2013)
    assert differences([random_program(rng) for _ in range(300)], cat) == []


@pytest.mark.slow
@pytest.mark.parametrize(("threads", "instructions", "count"), [(2, 3, 6844), (3, 2, 3640)])
def test_the_axioms_have_the_outcomes_of_the_transition_system_on_all_small_tests(threads, instructions, count):
    tests = list(small_tests(threads, instructions))
    assert len(tests) == count
    assert differences(tests, model("thesis-strong-axiomatic")) == []


@pytest.mark.parametrize("name", ["sc", "tso", "rmo", "ptx-rmo", "ptx-6.0"])
def test_other_models_differ_from_the_strong_model_as_listed(name, golden):
    cat = model(name)
    lines = []
    for test in small_tests(2, 2):
        ours, theirs = operational_outcomes(test, strong=True), axiomatic_outcomes(test, cat)
        if ours != theirs:
            registers = ", ".join(f"P{term.thread}:{term.register}" for term in test.condition.observed)
            lines.append(f"{test.name}  ({registers})")
            lines += [f"    thesis-strong alone: {outcome}" for outcome in sorted(ours - theirs)]
            lines += [f"    {name} alone: {outcome}" for outcome in sorted(theirs - ours)]
    golden(f"operational/thesis-strong-and-{name}.txt", "\n".join(lines) + "\n")
