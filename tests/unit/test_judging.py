"""Which method is asked: the estimate, what is listed, what is left to solvers, and what nobody says."""

from dataclasses import replace
from itertools import product
from pathlib import Path
from random import Random

import pytest
from litmus_models import choosing
from litmus_random import PROFILES, random_test

from corpus.dialects.registry import parse_litmus, read_litmus
from corpus.errors import InputError
from corpus.litmus.propositions import Quantifier
from oracle.cat.syntax import shipped_models
from oracle.consistency import AxiomaticModel
from oracle.executions.candidates import candidates, count_candidates
from oracle.executions.judge import Answer, is_quick_to_list, judge
from oracle.executions.steps import TooManyError
from oracle.executions.threads import unroll_threads
from synth.memory import judging
from synth.memory.judging import judge_with
from synth.requests import AUTO

EXAMPLES = sorted((Path(__file__).parents[2] / "examples" / "memory").glob("*.litmus"))
MODELS = {name: AxiomaticModel(name, path) for name, path in shipped_models().items()}


def columns(*threads: list[str], condition: str = "exists (x == 1)"):
    rows = [
        " | ".join(thread[number] if number < len(thread) else "" for thread in threads) + " ;"
        for number in range(max(map(len, threads)))
    ]
    heading = " | ".join(f"P{number}@cta {number},gpu 0" for number in range(len(threads))) + " ;"
    return parse_litmus("\n".join(["PTX t", "{ x=0; y=0; }", heading, *rows, condition]))


def ifs(thread: int, count: int) -> list[str]:
    rows = []
    for number in range(count):
        rows += [f"ld.relaxed.gpu r{number}, x", f"bne r{number}, 1, LC{thread}{number}"]
        rows += [f"st.relaxed.gpu y, {number + 1}", f"LC{thread}{number}:"]
    return rows


def test_the_estimate_is_the_number_of_candidates():
    """But for final writes of partial orders, which count once, and fences, all of whose orders are counted."""
    for path, partial in product(EXAMPLES, (False, True)):
        test = read_litmus(path)
        threads = unroll_threads(test, 2)
        listed = sum(batch.base.algebra.true.bit_length() for batch in candidates(test, threads, choosing(partial)))
        estimate = count_candidates(test, threads, choosing(partial), 1 << 20)
        assert estimate is not None and estimate * 4 >= listed >= 0, path
        assert count_candidates(test, threads, choosing(partial), 0) is None
        assert is_quick_to_list(test, MODELS["ptx-6.0" if partial else "sc"].model), path


@pytest.mark.parametrize("name", ["sc", "rc11", "ptx-6.0"])
def test_ten_ifs_a_thread_are_left_to_sat(name, monkeypatch):
    test = columns(ifs(0, 10), ifs(1, 10), condition="exists (P0:r1 == 1 /\\ P1:r1 == 0)")
    assert not is_quick_to_list(test, MODELS[name].model)
    monkeypatch.setattr(judging, "judge", None)
    assert judge_with(test, MODELS[name], AUTO, 2).answer is Answer.FORBIDDEN


def test_paths_through_threads_are_refused_before_they_are_combined():
    test = columns(ifs(0, 10), ifs(1, 10))
    with pytest.raises(TooManyError, match="1048576 combinations of paths through the threads are too many to list"):
        judge(test, MODELS["sc"].model)
    judgement = judge_with(test, MODELS["sc"], "enumerate", 2)
    assert judgement.answer is Answer.UNKNOWN and "1048576 combinations" in judgement.reason
    with pytest.raises(TooManyError, match="P0 has more than 4096 ways through it"):
        unroll_threads(columns(ifs(0, 14)), 2)


def test_ways_that_are_all_cut_end():
    """A million ways around a loop, none of which leaves it."""
    body = [row for n in range(20) for row in (f"ld.weak r{n}, x", f"beq r{n}, 1, LC{n}", f"LC{n}:")]
    with pytest.raises(TooManyError, match="the ways through P0 have more than 131072 steps"):
        unroll_threads(columns(["LC99:", *body, "goto LC99"]), 2)


@pytest.mark.slow
def test_two_hundred_instructions():
    """What can be said is said, and what cannot is given up before it takes gigabytes."""
    loads = columns([f"ld.relaxed.gpu r{number}, x" for number in range(200)])
    assert judge_with(loads, MODELS["sc"], AUTO, 2).answer is Answer.FORBIDDEN
    stores = columns([f"st.relaxed.gpu x, {number}" for number in range(40)])
    for name in ("sc", "ptx-6.0"):
        assert judge_with(stores, MODELS[name], AUTO, 2).answer is Answer.FORBIDDEN
    jumps = columns([row for n in range(100) for row in (f"LC{n}:", f"ld.weak r{n}, x", f"bne r{n}, 1, LC{n // 2}")])
    said = judge_with(jumps, MODELS["sc"], AUTO, 2)
    assert said.answer is Answer.UNKNOWN and said.reason == "P0 unrolls to more than 16384 places"


def test_values_that_are_too_many_are_left_to_z3(monkeypatch):
    from oracle.executions import domains

    test = columns(["ld.weak r0, y", "add r0, r0, 1", "st.weak x, r0"], ["ld.weak r0, x", "st.weak y, r0"])
    monkeypatch.setattr(domains, "MOST_VALUES", 1)
    monkeypatch.setattr(judging, "is_quick_to_list", lambda *_: False)
    asked = []
    monkeypatch.setattr(judging, "judge_by_smt", lambda *_: asked.append(1))
    judge_with(test, MODELS["sc"], AUTO, 2)
    assert asked


@pytest.mark.one_in(3)
@pytest.mark.parametrize("quantifier", Quantifier)
def test_a_verdict_that_does_not_count_is_the_same(quantifier):
    """What decides is looked at, and the rest is not: over examples and random tests, whatever their condition asks."""
    seen = set()
    tests = [
        *map(read_litmus, EXAMPLES[::4]),
        *(random_test(Random(f"count {n}"), PROFILES[n % len(PROFILES)]) for n in range(60)),
    ]
    for test in tests:
        test = replace(test, condition=replace(test.condition, quantifier=quantifier))
        for model in ("sc", "ptx-rmo", "ptx-6.0", "rc11"):
            try:
                whole = judge(test, MODELS[model].model)
            except InputError:
                continue
            quick = judge(test, MODELS[model].model, counts=False)
            assert quick == replace(whole, executions=None, matching=None, outcomes=())
            seen.add((quick.answer, quick.condition))
    assert len(seen) == (4 if quantifier is Quantifier.FORALL else 2)
