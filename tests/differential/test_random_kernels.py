"""Random kernels, written as PTX and as litmus tests side by side: what is left of the PTX means what the test does."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from random_kernels import random_kernel

from constraints.executions import judge_by_sat
from corpus.code.program import program_of
from corpus.code.ptx.reader import read_ptx
from corpus.files import folder_of
from corpus.litmus.locations import Loc, Region
from corpus.litmus.propositions import And, Atom, Condition, Quantifier
from oracle.consistency import resolve_consistency_models
from oracle.executions.judge import outcomes_and_flags
from oracle.executions.steps import TooManyError
from oracle.liveness import resolve_liveness_models
from synth.memory.liveness import explain_liveness

RACES = str(Path(folder_of("oracle")) / "models" / "parts" / "ptx-races.cat")
PROGRESS = ("fair", "obe", "hsa")


def memories(test, initial):
    """The global memory at the end of every execution that ends, and whether data may race."""
    asked = tuple(Loc(location.name) for location in test.locations if location.name in initial)
    test = replace(test, condition=replace(test.condition, observed=asked))
    (model,) = resolve_consistency_models([RACES])
    found, flags = outcomes_and_flags(test, model.model)
    ends = (initial | {term.name: value for term, value in outcome} for outcome in found)
    return {tuple(end.items()) for end in ends}, flags


def hangs(test):
    """The verdict under each progress model."""
    models = resolve_liveness_models([f"{name} & ptx" for name in PROGRESS])
    return [explain_liveness(test, model, 2).verdict for model in models]


def solved(test, condition):
    """Whether an execution meets a condition, and whether data may race, as SAT says."""
    (model,) = resolve_consistency_models([RACES])
    parts = tuple(Atom("eq", Loc(name), value) for name, value in condition.items())
    judgement = judge_by_sat(replace(test, condition=Condition(Quantifier.EXISTS, And(parts))), model.model)
    return judgement.answer, judgement.flags


def hold_both_ways_agree(seeds):
    seen = Counter()
    for seed in seeds:
        rng = Random(f"kernel {seed}")
        kernel = random_kernel(rng)
        module = read_ptx(kernel.text, "kernel.ptx")
        left = program_of(module, module.kernels[0], kernel.launch).test
        initial = {each.name: each.initial for each in kernel.test.locations if each.region is Region.GLOBAL}
        try:
            own, other = (memories(test, initial) for test in (left, kernel.test))
            seen["outcomes"] += len(own[0])
        except TooManyError:  # too many to list: some final memories are asked for
            there = [each.name for each in left.locations if each.name in initial]
            condition = {name: rng.choice((0, 1, 1, 2)) for name in rng.sample(there, min(2, len(there)))}
            own, other = (solved(test, condition) for test in (left, kernel.test))
            seen["solved"] += 1
        assert own == other, (seed, kernel.text)
        verdicts = hangs(left)
        assert verdicts == hangs(kernel.test), (seed, kernel.text)
        seen.update(own[1])
        seen.update(f"{name} {verdict}" for name, verdict in zip(PROGRESS, verdicts, strict=True))
    return seen


@pytest.mark.parametrize("count", [20, pytest.param(60, marks=pytest.mark.slow)])
def test_a_kernel_and_its_litmus_test_have_the_same_verdicts(count):
    seen = hold_both_ways_agree(range(count))
    assert seen["too many"] <= count // 10
    assert count // 6 < seen["data-race"] < 5 * count // 6
    assert seen["fair MAY_HANG"] > count // 30
    assert seen["hsa MAY_HANG"] > seen["fair MAY_HANG"]


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_a_thousand_kernels_and_their_litmus_tests_have_the_same_verdicts(part):
    assert hold_both_ways_agree(range(60 + 235 * part, 295 + 235 * part))["solved"] < 60
