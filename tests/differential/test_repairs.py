"""The cheapest repairs against all ways to change a program, each judged by listing its executions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice, product
from pathlib import Path
from random import Random

import pytest
from litmus_models import shipped
from litmus_random import C_WHOLE, OPENCL_WHOLE, PTX_2015, PTX_2019, VULKAN, random_test

from constraints.repairs import RepairableProgram, repairs
from corpus.dialects.registry import DIALECTS, read_litmus
from corpus.files import read_text
from corpus.litmus.propositions import Quantifier
from corpus.litmus.test import LitmusTest
from corpus.litmus.text import language
from oracle.cat.interpreter import Model
from oracle.executions.bounds import UNROLL
from oracle.executions.judge import Judgement, judge
from oracle.executions.shapes import judge_together
from synth.repair.costs import read_costs
from synth.repair.sites import Direction, ModelVocabulary, Sites, sites_of

MODELS = shipped()
PROFILES = {"c": C_WHOLE, "opencl": OPENCL_WHOLE, "ptx": PTX_2019, "gpu-ptx": PTX_2015, "vulkan": VULKAN}
FAMILIES = [
    ("c", "rc11"),
    ("c", "c11"),
    pytest.param("ptx", "ptx-6.0", marks=pytest.mark.slow),
    ("gpu-ptx", "ptx-rmo"),
    ("opencl", "opencl"),
    ("opencl", "rc11-scoped"),
    pytest.param("vulkan", "vulkan", marks=pytest.mark.slow),
]
EXAMPLES = Path(__file__).parents[2] / "examples" / "memory"


def fewer(sites: Sites, source: Random, most: int) -> Sites:
    """Some of the sites, with some of their levels each, so that there are no more than ``most`` ways to do them."""
    picked = sorted(source.sample(range(len(sites.choices)), min(len(sites.choices), 6)))
    kept = []
    for left, number in enumerate(picked):
        choice = sites.choices[number]
        room = max(2, round(most ** (1 / (len(picked) - left))))
        levels = [0, *sorted(source.sample(range(1, len(choice.modes)), min(len(choice.modes), room) - 1))]
        most //= len(levels)
        kept.append(choice.only(levels))
    return replace(sites, choices=tuple(kept))


def by_force(sites: Sites, model: Model, flags: bool) -> set[tuple[int, tuple[int, ...]]]:
    """Every minimal repair with its cost: all ways to do the sites, each judged by listing executions."""
    ladders = sites.ladders
    violated = sites.test.condition.quantifier is Quantifier.FORALL

    def repaired(judgement: Judgement) -> bool:
        right = judgement.condition is True if violated else judgement.answer == "FORBIDDEN"
        return right and not (flags and judgement.flags)

    ways = product(*(range(len(ladder.costs)) for ladder in ladders))
    met = [levels for levels in ways if all(any(levels[n] in each[n] for n in each) for each in sites.requirements)]
    tests = [sites.with_levels(levels) for levels in met]
    judged = judge_together(tests, model, UNROLL)
    judgements = (known or judge(test, model) for known, test in zip(judged, tests, strict=True))
    found = [levels for levels, judgement in zip(met, judgements, strict=True) if repaired(judgement)]

    def weaker(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
        return all(high in ladder.above[low] for ladder, low, high in zip(ladders, one, other, strict=True))

    least = [levels for levels in found if not any(other != levels and weaker(other, levels) for other in found)]
    return {(sum(lad.costs[k] for lad, k in zip(ladders, levels, strict=True)), levels) for levels in least}


def weakened(test: LitmusTest, dialect: str, words: ModelVocabulary) -> LitmusTest:
    """The test with every instruction done in the weakest way, and without fences."""
    sites = sites_of(test, DIALECTS[dialect], words, read_costs("ptx").of, Direction.WEAKER)
    return sites.with_levels((0,) * len(sites.choices))


def given(dialect: str, words: ModelVocabulary) -> Iterator[tuple[Random, LitmusTest]]:
    """Tests of the examples, as they are and weakened, and random ones."""
    for path in sorted(EXAMPLES.rglob("*.litmus")):
        test = read_litmus(path)
        if path.parent.name == "ptx-async":  # the models of these families do not speak of asynchronous operations
            continue
        if language(read_text(path), str(path)) == DIALECTS[dialect].language:
            yield Random(path.stem), test
            yield Random(path.stem), weakened(test, dialect, words)
    for number in range(20):
        source = Random(f"repairs {dialect} {number}")
        yield source, random_test(source, replace(PROFILES[dialect], events=5))


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("most", "step"), [(30, 3), *(pytest.param(most, 1, marks=pytest.mark.slow) for most in (30, 100))]
)
@pytest.mark.parametrize("direction", Direction)
@pytest.mark.parametrize(("dialect", "name"), FAMILIES)
def test_all_minimal_repairs_are_found_cheapest_first(dialect, name, direction, most, step):
    model, seen = MODELS[name], 0
    words = ModelVocabulary(model)
    for source, test in islice(given(dialect, words), 0, None, step):
        # What is weak enough to race may do anything.
        flags = direction is Direction.WEAKER and not judge(test, model).flags
        sites = fewer(sites_of(test, DIALECTS[dialect], words, read_costs("ptx").of, direction), source, most)
        program = RepairableProgram(sites.padded, model, sites.sites, sites.ladders, flags=flags)
        found = list(repairs([program], sites.ladders, sites.requirements))
        program.close()
        assert {(repair.cost, repair.levels) for repair in found} == by_force(sites, model, flags), test
        assert [repair.cost for repair in found] == sorted(repair.cost for repair in found)
        seen += any(any(repair.levels) for repair in found)
    # Examples of OpenCL race, and so may be weaker.
    assert step * seen >= 3 or (name, direction) == ("opencl", Direction.WEAKER)
