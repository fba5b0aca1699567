"""Hard cases are found: tests that people know, and tests that were not known to exist."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import pytest
from bruteforce import is_valid_test

from corpus.journal import read_corpus
from corpus.progress.axb import canonical
from corpus.progress.idioms import idioms
from corpus.progress.text import parse_axb, program_of
from corpus.test import Test
from oracle.progress.behaviour import behaviour, behaviour_digest
from oracle.progress.explain import explain
from oracle.progress.models import MODELS
from oracle.progress.reductions import is_minimal

STRONG_OBE = {"obe-strong": "TERMINATES", "hsa-strong": "MAY_HANG", "obe-weak": "MAY_HANG"}


@pytest.fixture(scope="module")
def suites(progress_suite: Callable[[str, str], Path]) -> dict[str, list[Test]]:
    """All tests of small bounds, by bound, and the minimal ones of 2x4."""
    every = {bound: read_corpus(progress_suite(bound, "--all")).tests for bound in ("2x2", "2x3", "3x3", "2x4")}
    return every | {"minimal 2x4": read_corpus(progress_suite("2x4", "--minimal")).tests}


def separated(tests: list[Test]) -> set[tuple[str, str]]:
    """Pairs of models that some test tells apart."""
    return {
        (one, other)
        for one, other in combinations(MODELS, 2)
        if any(test.verdicts[one] != test.verdicts[other] for test in tests)
    }


def test_the_full_mutex_of_fig_2_is_found(suites):
    """Table 3 of the paper, from a suite that was not complete, names a simplified one only."""
    for suite in ("2x4", "minimal 2x4"):
        (mutex,) = [test for test in suites[suite] if "mutex" in test.tags]
        assert program_of(mutex) == idioms()["mutex"]
        assert mutex.verdicts["obe-weak"] == "TERMINATES"
        assert mutex.verdicts["hsa-strong"] == "MAY_HANG"


@pytest.mark.parametrize("name", sorted(set(idioms()) - {"barrier-3", "barrier-4"}))
def test_idioms_are_found_and_tagged_once(suites, name):
    program = idioms()[name]
    (test,) = [test for test in suites[program.bound] if name in test.tags]
    assert program_of(test) == canonical(program)


def test_nothing_else_is_tagged(suites):
    tagged = {tag for tests in suites.values() for test in tests for tag in test.tags}
    assert tagged == set(idioms()) - {"barrier-3", "barrier-4"}
    assert sum(bool(test.tags) for test in suites["2x4"]) == 4


def test_the_two_bidirectional_idioms_are_one_another_with_threads_swapped(suites):
    """So they are two tests, and two behaviours, for thread ids matter; with symmetric threads they are one."""
    one, other = (idioms()[name] for name in ("prodcons-bidirectional", "prodcons-bidirectional-2"))
    assert canonical(one, True) == canonical(other, True)
    assert behaviour(one) != behaviour(other)
    assert behaviour(one, True) == behaviour(other, True)
    kept = [test.tags for test in suites["minimal 2x4"] if "bidirectional" in " ".join(test.tags)]
    assert sorted(kept) == [("prodcons-bidirectional",), ("prodcons-bidirectional-2",)]


def test_a_minimal_suite_has_the_behaviour_of_every_minimal_test(suites):
    kept = {test.behaviour for test in suites["minimal 2x4"]}
    assert len(kept) == len(suites["minimal 2x4"]) == 473
    assert all(is_minimal(program_of(test)) for test in suites["minimal 2x4"])
    assert all(test.behaviour in kept for test in suites["2x4"][::10] if is_minimal(program_of(test)))


def test_minimal_suites_separate_what_all_tests_separate(suites):
    small = suites["2x2"] + suites["2x3"]
    assert separated(suites["minimal 2x4"] + small) == separated(suites["2x4"] + small)


def test_models_that_small_tests_tell_apart(suites):
    """All pairs but the two readings of unfair, and HSA+OBE and LOBE, for which it takes three threads."""
    everything = set(combinations(MODELS, 2))
    alike = {("unfair-weak", "unfair-strong")}
    assert everything - separated(suites["2x4"]) == alike | {
        ("hsa+obe-weak", "lobe-weak"),
        ("hsa+obe-strong", "lobe-strong"),
    }
    assert everything - separated(suites["2x4"] + suites["3x3"]) == alike


def test_there_is_a_test_for_strong_obe(suites):
    """Table 4 of the paper has none: one that ends under strong OBE, and not for the sake of HSA or of weak OBE."""

    def strongly_obe(tests: list[Test]) -> list[Test]:
        return [t for t in tests if all(t.verdicts[model] == verdict for model, verdict in STRONG_OBE.items())]

    assert {size: len(strongly_obe(tests)) for size, tests in suites.items()} == {
        "2x2": 0,
        "2x3": 0,
        "3x3": 0,
        "2x4": 51,
        "minimal 2x4": 13,
    }
    program = parse_axb(
        "THREAD 0\n0: if (Mem[0] == 1) goto 0;\n1: if (Exch(Mem[0],0) == 1) goto 0;\n"
        "THREAD 1\n0: if (Exch(Mem[0],1) == 0) goto 0;\n1: Mem[0] = 0;\n"
    )
    assert behaviour_digest(program) in {test.behaviour for test in strongly_obe(suites["minimal 2x4"])}
    assert is_valid_test(program)
    for model, verdict in STRONG_OBE.items():
        assert explain(program, MODELS[model]).verdict == verdict
