"""Hangs under a memory model and a scheduler: two methods agree, and under SC both with the transition system."""

from contextlib import suppress
from random import Random

import pytest

from constraints.stuck import find_hang_by_sat, only_as_by_sat
from corpus.dialects.registry import read_litmus
from corpus.progress.as_litmus import axb_test
from oracle.cat.syntax import shipped_models
from oracle.consistency import load_model
from oracle.executions.steps import TooManyError
from oracle.executions.stuck import find_hang, only_as
from oracle.lassos import hang_of_lasso
from oracle.liveness import resolve_liveness_models
from oracle.progress.litmus import explore_litmus
from oracle.progress.models import GUARANTEES, Verdict, system_verdicts, verdicts
from oracle.progress.models import MODELS as MODELS_OF_PROGRESS
from synth.memory.liveness import explain_liveness
from tests.litmus_random import halves_test
from tests.random_spins import random_axb, random_spins

MODELS = ("sc", "tso", "rmo", "ptx-rmo", "ptx-6.0", "rc11", "rc11-scoped")


def model(name):
    return load_model(shipped_models()[name], name)


def said(found, strong=False):
    """MAY_HANG or TERMINATES, None where strong fairness leaves it open."""
    if strong and found.hang is not None and not found.hang.steady:
        return None
    return Verdict.MAY_HANG if found.hang is not None else Verdict.TERMINATES


@pytest.mark.parametrize(("seed", "unroll", "writing"), [(1, 1, False), (2, 2, True)])
def test_listing_and_sat_agree(seed, unroll, writing):
    rng = Random(seed)
    compared, hanging = 0, 0
    for _ in range(60 if unroll == 1 else 12):
        test = random_spins(rng, writing=writing)
        guarantee, strong = rng.choice(list(GUARANTEES.values())), rng.random() < 0.2
        for name in rng.sample(MODELS, 2):
            try:
                listed = find_hang(test, guarantee, model(name), unroll, strong)
            except TooManyError:
                continue
            solved = find_hang_by_sat(test, guarantee, model(name), unroll, strong)
            assert said(listed, strong) == said(solved, strong), (name, test)
            compared, hanging = compared + 1, hanging + (listed.hang is not None)
    assert compared / 4 < hanging < compared * 3 / 4


@pytest.mark.parametrize("threads", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_under_sc_a_program_hangs_where_its_transition_system_does(threads):
    """Sorensen et al. 2021, Listings 1 and 2, decide the same of programs that write in their loops, too."""
    rng = Random(threads)
    sc, seen = model("sc"), set()
    for _ in range(14 if threads == 2 else 21):
        program = random_axb(rng, threads)
        expected = verdicts(program)
        for name, guarantee in GUARANTEES.items():
            for strong in (False, True):
                found = find_hang_by_sat(axb_test(program, "axb"), guarantee, sc, 2, strong)
                verdict = expected[f"{name}-{'strong' if strong else 'weak'}"]
                if not found.provisional:
                    assert said(found, strong) in (verdict, None), (name, strong, program)
                    seen.add((said(found, strong), strong))
    assert len(seen) == 5, "each verdict, and what strong fairness leaves open"


@pytest.mark.parametrize("count", [40, pytest.param(400, marks=pytest.mark.slow)])
def test_who_waits_for_the_arrivals_at_the_barrier_of_a_cluster_hangs_by_every_method(count):
    sc, seen = model("sc"), set()
    for number in range(count):
        test = halves_test(Random(f"hanging halves {number}"))
        expected = system_verdicts(explore_litmus(test).successors, list(MODELS_OF_PROGRESS.values()))
        for name, guarantee in GUARANTEES.items():
            verdict = expected[f"{name}-weak"]
            ways = {said(find_hang(test, guarantee, sc)), said(find_hang_by_sat(test, guarantee, sc))}
            assert ways == {verdict}, (name, test)
            seen.add((name, verdict))
    assert len(seen) == 2 * len(GUARANTEES)


def test_bit_vectors_agree_with_lists_of_values_and_strong_fairness_is_decided_under_sc():
    rng = Random(9)
    sc, decided, robust = model("sc"), 0, set()
    leader = read_litmus("examples/liveness/leader.litmus")  # store buffering
    for number in range(4):
        program = random_axb(rng) if number % 2 else None
        test = leader if number == 0 else random_spins(rng) if program is None else axb_test(program, "axb")
        name, memory = rng.choice(sorted(GUARANTEES)), model("tso" if number == 0 else rng.choice(MODELS))
        found = [find_hang_by_sat(test, GUARANTEES[name], memory, 1, False, solver) for solver in ("cadical153", "smt")]
        assert said(found[0]) == said(found[1]) and found[0].provisional == found[1].provisional
        ways = {only_as_by_sat(test, memory, sc, 1, solver) for solver in ("cadical153", "smt")}
        assert len(ways) == 1
        robust |= ways
        with suppress(TooManyError):
            assert {only_as(test, memory, sc, 1)} == ways
        if program is not None:
            (pair,) = resolve_liveness_models([f"{name}-strong & sc"])
            verdict = explain_liveness(test, pair, 2)
            if not verdict.hanging.provisional:
                assert verdict.verdict is verdicts(program)[f"{name}-strong"]
                decided += 1
    assert robust == {False, True} and decided


def test_lassos_of_the_transition_system_are_hangs_under_weaker_models():
    """The model of such a lasso is one execution, and whatever model allows it has a hang by other methods, too."""
    rng = Random(5)
    lassos = 0
    for number in range(14):
        test = random_spins(rng, writing=True) if number % 2 else axb_test(random_axb(rng), "axb")
        progress, memory = rng.choice(list(MODELS_OF_PROGRESS.values())), model(rng.choice(MODELS))
        (verdict,) = system_verdicts(explore_litmus(test).successors, [progress]).values()
        hang = hang_of_lasso(test, progress, memory)
        if hang is not None:
            assert verdict is Verdict.MAY_HANG
            found = find_hang_by_sat(test, progress.guarantee, memory, 2, hang.steady)
            assert found.hang is not None or found.provisional, (progress.name, memory.name, test)
            lassos += 1
    assert lassos > 3
