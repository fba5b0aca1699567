"""Verdicts on random litmus tests agree, however they are found: by listing executions, by SAT, by z3; and, naively, by
``reference_herd``, which also counts executions and collects their final states."""

from collections import Counter
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random

import pytest
import reference_herd
from litmus_models import grounded, odd, shipped
from litmus_random import (
    PROFILES,
    asynchronous_test,
    halves_test,
    matrices_test,
    meeting_test,
    random_test,
    vulkan_test,
    wgsl_test,
)
from random_spins import random_lock

from constraints.executions import judge_by_sat
from constraints.smt import judge_by_smt
from constraints.solvers import PYSAT_SOLVERS
from corpus.dialects.registry import parse_litmus, read_litmus
from corpus.errors import InputError
from oracle.executions.judge import Answer, judge, outcomes
from oracle.executions.values import Address

EXAMPLES = sorted((Path(__file__).parents[2] / "examples" / "memory").glob("*.litmus"))
MODELS = shipped() | odd()
OWN = {"vulkan": vulkan_test, "webgpu": wgsl_test, "ptx-async": asynchronous_test}
"""Tests that speak of what a model is about."""


def random_tests(name, count, events):
    """Random tests of every profile in turn; others for each name, and half of their own for models with such."""
    own = next((make for model, make in OWN.items() if name.startswith(model)), None)
    for number in range(count):
        if own is not None and number % 2:
            yield own(Random(f"{name} {number}"), events)
            continue
        profile = PROFILES[number % len(PROFILES)]
        yield random_test(Random(f"{name} {number}"), replace(profile, events=events))


def said(way, test, model, **options):
    """What a method says, but for counts; a refusal by its class, for what a method cannot list is its own matter."""
    try:
        judgement = way(test, model, **options)
    except InputError as error:
        return type(error)
    return judgement.answer, judgement.condition, frozenset(judgement.flags), judgement.bounded


def compare(test, model, ways):
    """What the methods say, which must be one thing but for refusals."""
    answers = [said(way, test, model) for way in ways]
    assert len({answer for answer in answers if isinstance(answer, tuple)}) <= 1, (model.name, test, answers)
    return answers


def hold_all_agree(name, count, events, solved_by_z3):
    model = MODELS[name]
    seen = Counter()
    for number, test in enumerate(random_tests(f"{name}, {events} events", count, events)):
        ways = [judge, judge_by_sat] + [judge_by_smt] * (number < solved_by_z3)
        answers = compare(test, model, ways)
        seen.update(answer[0] if isinstance(answer, tuple) else "refused" for answer in answers)
    assert seen["refused"] <= count // 100
    assert min(seen[Answer.ALLOWED], seen[Answer.FORBIDDEN]) > count // 5  # neither is what a test says anyway


@pytest.mark.one_in(5)
@pytest.mark.parametrize("count", [108, pytest.param(216, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", MODELS)
def test_enumeration_sat_and_z3_agree(name, count):
    hold_all_agree(name, count, events=4, solved_by_z3=count // 9)


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_enumeration_sat_and_z3_agree_on_many(name):
    hold_all_agree(name, 20000 // len(MODELS), events=6, solved_by_z3=200)


@pytest.mark.parametrize("count", [40, pytest.param(2000, marks=pytest.mark.slow)])
def test_asynchronous_operations_by_every_method(count):
    seen = Counter()
    for number in range(count):
        generate = meeting_test if number % 4 == 0 else asynchronous_test
        test = generate(Random(f"asynchronous {number}"))
        (answer, *_) = compare(test, MODELS["ptx-async"], [judge, judge_by_sat, judge_by_smt])
        seen[answer[0] if isinstance(answer, tuple) else "refused"] += 1
    assert seen["refused"] <= count // 100 and min(seen[Answer.ALLOWED], seen[Answer.FORBIDDEN]) > count // 5


@pytest.mark.parametrize("count", [40, pytest.param(2000, marks=pytest.mark.slow)])
def test_operations_of_tensor_cores_by_every_method(count):
    seen = Counter()
    for number in range(count):
        test = matrices_test(Random(f"matrices {number}"))
        (answer, *_) = compare(test, MODELS["ptx-async"], [judge, judge_by_sat, judge_by_smt])
        seen[answer[0] if isinstance(answer, tuple) else "refused"] += 1
    assert seen["refused"] <= count // 50 and min(seen[Answer.ALLOWED], seen[Answer.FORBIDDEN]) > count // 8


@pytest.mark.parametrize("count", [60, pytest.param(1000, marks=pytest.mark.slow)])
def test_halves_of_barriers_by_every_method(count):
    seen = Counter()
    for number in range(count):
        test = halves_test(Random(f"halves {number}"))
        model = MODELS[("ptx", "ptx-async")[number % 2]]
        (answer, *_) = compare(test, model, [judge, judge_by_sat, judge_by_smt])
        if sum(len(thread.instructions) for thread in test.threads) < 15:
            expected, judgement = reference_herd.judge(test, model.syntax), judge(test, model)
            assert (judgement.executions, judgement.matching) == (expected.executions, expected.matching), test
        seen[answer[0]] += 1
    assert min(seen[Answer.ALLOWED], seen[Answer.FORBIDDEN]) > count // 8


LOCKED = ("sc", "tso", "ptx-6.0", "rc11", "c11", "rmo")


@pytest.mark.slow
@pytest.mark.parametrize("count", [12, pytest.param(400, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("threads", "unroll", "least"), [(2, 1, 1 / 2), (3, 0, 1 / 4), (3, 1, 0)])
def test_locks_by_every_method(threads, unroll, least, count):
    """Of many locks there are too many executions to list; of three threads whose loops go round, none is listed."""
    seen, listed = Counter(), 0
    for number in range(count):
        test = random_lock(Random(f"lock {threads} {unroll} {number}"), threads)
        ways = [judge_by_sat, judge_by_smt, judge][: 3 if least else 2]
        answers = compare(test, MODELS[LOCKED[number % len(LOCKED)]], [partial(way, unroll=unroll) for way in ways])
        seen[answers[0][0]] += 1
        listed += len(ways) == 3 and isinstance(answers[2], tuple)
    assert listed >= count * least
    assert min(seen[Answer.ALLOWED], seen[Answer.FORBIDDEN]) > count // 6


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_what_has_no_asynchronous_words_is_as_under_ptx(path):
    test = read_litmus(path)
    assert said(judge, test, MODELS["ptx-async"]) == said(judge, test, MODELS["ptx"])


@pytest.mark.parametrize("count", [100, pytest.param(5000, marks=pytest.mark.slow)])
def test_random_tests_without_asynchronous_words_are_as_under_ptx(count):
    for number in range(count):
        test = random_test(Random(f"ptx {number}"), replace(PROFILES[number % len(PROFILES)], events=5))
        assert said(judge_by_sat, test, MODELS["ptx-async"]) == said(judge_by_sat, test, MODELS["ptx"]), test


@pytest.mark.parametrize("condition", ["P1:r0 >= 2", "P1:r0 > 0", "P1:r0 <= 1", "P1:r0 == 1"])
def test_values_out_of_thin_air_may_be_below_and_above_all_that_a_test_speaks_of(condition):
    text = "PTX t\n{ x=0; }\n P0@cta 0,gpu 0 | P1@cta 0,gpu 0 ;\n st.weak x, 1 | ld.weak r0, x ;\n | st.weak x, r0 ;\n"
    test = parse_litmus(f"{text}forall ({condition} \\/ P1:r0 == 0 \\/ P1:r0 == 1)")
    answers = compare(test, MODELS["complements"], [judge, judge_by_sat, judge_by_smt])
    assert {answer[1] for answer in answers} == {False}


@pytest.mark.one_in(5)
@pytest.mark.parametrize("name", MODELS)
def test_sat_agrees_on_the_examples(name):
    for path in EXAMPLES:
        compare(read_litmus(path), MODELS[name], [judge, judge_by_sat])


@pytest.mark.parametrize("solver", PYSAT_SOLVERS)
def test_sat_solvers_agree(solver):
    """Random tests under one model each."""
    for name, model in MODELS.items():
        (test,) = random_tests(solver, 1, 5)
        assert said(judge_by_sat, test, model, solver=solver) == said(judge, test, model), name


@pytest.mark.one_in(5)
@pytest.mark.parametrize("name", MODELS)
def test_the_naive_reference_agrees(name):
    """In answer, number of executions and final states; of executions with values that come from somewhere."""
    model = grounded(MODELS[name])
    for test in random_tests(f"{name} by hand", 40, 4):
        expected = reference_herd.judge(test, model.syntax)
        judgement = judge(test, model)
        assert (judgement.executions, judgement.matching) == (expected.executions, expected.matching), test
        assert frozenset(judgement.flags) == expected.flags, test
        assert frozenset(frozenset(map(_plain, finals)) for finals in outcomes(test, model)) == expected.outcomes, test


@pytest.mark.parametrize(
    ("stronger", "weaker"),
    [
        ("sc", "tso"),
        ("tso", "rmo"),
        ("rmo", "ptx-rmo"),
        ("sc", "ptx-6.0"),
        ("sc", "rc11"),
        ("rc11", "rc11-scoped"),
        ("sc", "thesis-strong-axiomatic"),
    ],
)
def test_weaker_models_allow_what_stronger_ones_do(stronger, weaker):
    """Every final state of the one is one of the other; the tables of verdicts tell them apart."""
    for test in random_tests(f"{stronger} {weaker}", 120, 5):
        assert outcomes(test, MODELS[stronger]) <= outcomes(test, MODELS[weaker]), test


def test_webgpu_is_vulkan_in_fewer_words():
    """They say the same wherever WebGPU does not say that a test is beyond it."""
    seen = Counter()
    for number in range(120):
        rng = Random(f"wgsl {number}")
        test = wgsl_test(rng) if number % 3 else vulkan_test(rng)
        ours, theirs = (judge(test, MODELS[name]) for name in ("webgpu", "vulkan"))
        beyond = set(ours.flags) - {"data-race"}
        assert beyond or (ours.answer, ours.flags, ours.executions) == (theirs.answer, theirs.flags, theirs.executions)
        seen.update([("beyond" if beyond else ours.answer)])
    assert min(seen.values()) > 10 and len(seen) == 3


def _plain(final):
    term, value = final
    return term, (value.location, value.offset) if isinstance(value, Address) else value
