"""Random kernels, written as SPIR-V and as litmus tests side by side: what is left of the SPIR-V means what the test
does, under the memory models of Vulkan and of OpenCL.
"""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from random_spirv import random_spirv

from constraints.executions import judge_by_sat
from corpus.litmus.locations import Loc, Region
from corpus.litmus.propositions import And, Atom, Condition, Quantifier
from oracle.consistency import resolve_consistency_models
from oracle.executions.judge import outcomes_and_flags
from oracle.executions.steps import TooManyError
from oracle.liveness import resolve_liveness_models
from synth.checking.sources import kernels_of
from synth.checking.tasks import tasks_of
from synth.memory.liveness import explain_liveness
from synth.requests import read_launch

PROGRESS = ("fair", "hsa")


def memories(test, initial, model):
    """The global memory at the end of every execution that ends, and whether data may race."""
    asked = tuple(Loc(location.name) for location in test.locations if location.name in initial)
    test = replace(test, condition=replace(test.condition, observed=asked))
    found, flags = outcomes_and_flags(test, model.model)
    ends = (initial | {term.name: value for term, value in outcome} for outcome in found)
    return {tuple(end.items()) for end in ends}, frozenset(flags)


def solved(test, condition, model):
    """Whether an execution meets a condition, and whether data may race, as SAT says."""
    parts = tuple(Atom("eq", Loc(name), value) for name, value in condition.items())
    judgement = judge_by_sat(replace(test, condition=Condition(Quantifier.EXISTS, And(parts))), model.model)
    return judgement.answer, frozenset(judgement.flags)


def hangs(test, model):
    """The verdict under each progress model."""
    models = resolve_liveness_models([f"{name} & {model}" for name in PROGRESS])
    return [explain_liveness(test, each, 2).verdict for each in models]


def hold_both_ways_agree(seeds):
    seen = Counter()
    for seed in seeds:
        rng = Random(f"spirv {seed}")
        kernel = random_spirv(rng)
        (task,) = tasks_of(kernels_of(kernel.text.encode(), Path("k.spvasm")), read_launch(kernel.launch))
        (model,) = resolve_consistency_models([kernel.model])
        (program,) = task.programs(model.model, 2)
        assert task.file.module.language == kernel.model
        left = program.test
        initial = {each.name: each.initial for each in kernel.test.locations if each.region is Region.GLOBAL}
        try:
            own, other = (memories(test, initial, model) for test in (left, kernel.test))
            seen["outcomes"] += len(own[0])
        except TooManyError:  # too many to list: some final memories are asked for
            there = [each.name for each in left.locations if each.name in initial]
            condition = {name: rng.choice((0, 1, 1, 2)) for name in rng.sample(there, min(2, len(there)))}
            own, other = (solved(test, condition, model) for test in (left, kernel.test))
            seen["solved"] += 1
        assert own == other, (seed, kernel.text)
        if any("OpControlBarrier" in line for line in kernel.text.splitlines()):
            assert hangs(left, kernel.model) == hangs(kernel.test, kernel.model), (seed, kernel.text)
        seen.update({kernel.model, *own[1]})
    return seen


@pytest.mark.slow
def test_a_kernel_and_its_litmus_test_have_the_same_verdicts():
    seen = hold_both_ways_agree(range(80))
    assert 20 < seen["opencl"] < 60
    assert 10 < seen["data-race"] < 75
    assert seen["outcomes"] > 200


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_a_thousand_kernels_and_their_litmus_tests_have_the_same_verdicts(part):
    assert hold_both_ways_agree(range(80 + 230 * part, 310 + 230 * part))["solved"] < 100
