"""The strong model of Sorensen 2013 as a transition system, against axiomatic models, over all small tests.

``thesis-strong-axiomatic.cat`` has the same outcomes on every test. How the models of other papers differ from it on
the smallest tests is listed in ``tests/golden/operational``.
"""

import random
from dataclasses import replace

import pytest
from litmus_code import program, where
from litmus_small import operational_outcomes, small_tests

from oracle.cat.syntax import shipped_models
from oracle.consistency import load_model
from oracle.executions.judge import outcomes
from oracle.operational.explore import explore, satisfies


def model(name):
    return load_model(shipped_models()[name], name)


def axiomatic_outcomes(test, cat):
    return frozenset(tuple(value for _, value in final) for final in outcomes(test, cat))


def random_program(rng):
    """Two to four threads of loads, stores and membars over three locations, small enough to list its executions. Of a
    fifth of its loads nobody uses the value."""
    while True:
        columns, stored = [], 0
        for _ in range(rng.choice([2, 3, 3, 4])):
            body, loaded = [], 0
            for _ in range(rng.choice([1, 2, 3, 3])):
                match rng.choice(["ld", "ld", "st", "st", "cta", "gl"]):
                    case "ld":
                        body.append(f"ld r{loaded} {rng.choice('xyz')}")
                        loaded += 1
                    case "st":
                        stored += 1
                        body.append(f"st {rng.choice('xyz')} {stored}")
                    case fence:
                        body.append(fence)
            columns.append("; ".join(body))
        text = " | ".join(columns)
        if 0 < text.count("ld") <= 5 and all(text.count(f"st {at}") < 4 for at in "xyz"):
            return less_observed(rng, program(text, tuple(rng.choice([0, 0, 1, 2]) for _ in columns)))


def less_observed(rng, test):
    """The test with a register in five not observed."""
    observed = tuple(term for term in test.condition.observed if rng.random() < 0.8)
    return replace(test, condition=replace(test.condition, observed=observed))


def differences(tests, cat):
    return [test.name for test in tests if operational_outcomes(test, strong=True) != axiomatic_outcomes(test, cat)]


def test_the_axioms_have_the_outcomes_of_the_transition_system():
    cat = model("thesis-strong-axiomatic")
    tests = list(small_tests(2, 2))
    assert len(tests) == 220
    assert differences(tests, cat) == []
    rng = random.Random(2013)
    assert differences([random_program(rng) for _ in range(300)], cat) == []


ISA2 = "st x 1; {0}; st y 1 | ld r0 y; {1}; st z 1{2} | ld r0 z; {1}; ld r1 x"


@pytest.mark.parametrize(
    ("text", "blocks", "outcome", "allowed"),
    [
        # a membar.gl shares what its block holds, also of locations that its own thread never accesses
        (ISA2.format("cta", "gl", ""), (0, 0, 1), where(P1_r0=1, P2_r0=1, P2_r1=0), False),
        (ISA2.format("cta", "gl", "; ld r9 x"), (0, 0, 1), where(P1_r0=1, P2_r0=1, P2_r1=0), False),
        (ISA2.format("cta", "cta", ""), (0, 0, 1), where(P1_r0=1, P2_r0=1, P2_r1=0), True),
        # a membar.cta does not share what another thread of its block stored, and the thread has read
        ("st x 1 | ld r0 x; cta; st y 1 | ld r0 y; cta; ld r1 x", (0, 0, 1), where(P1_r0=1, P2_r0=1, P2_r1=0), True),
        ("st x 1 | ld r0 x; gl; st y 1 | ld r0 y; cta; ld r1 x", (0, 0, 1), where(P1_r0=1, P2_r0=1, P2_r1=0), False),
        # a store that is there when one of another block is shared is overwritten, and is not the last one
        ("ld r0 z; cta; st x 1; gl; ld r1 x | st x 2; cta; st z 1", (0, 1), where(P0_r0=1, P0_r1=1, x=2), False),
        ("ld r0 z; cta; st x 1; cta; ld r1 x | st x 2; cta; st z 1", (0, 1), where(P0_r0=1, P0_r1=1, x=2), True),
    ],
)
def test_what_a_block_holds_is_shared_by_each_of_its_membar_gl(text, blocks, outcome, allowed):
    test = program(text, blocks, observed="x")
    reached = explore(test, strong=True)
    assert any(satisfies(reached.terms, final, outcome) for final in reached.finals) == allowed
    both = axiomatic_outcomes(test, model("thesis-strong-axiomatic"))
    assert both == operational_outcomes(test, strong=True)


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
