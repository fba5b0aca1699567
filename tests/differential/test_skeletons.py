"""Programs that are not given, held to the oracle: what a model sees of them, and of what each relaxation leaves."""

from contextlib import closing
from dataclasses import replace
from itertools import product
from random import Random

import pytest
from random_executions import WHOLE, random_execution
from skeletons import Listed, Sampler, called, check_values

from corpus.executions.relaxations import relaxations, relaxed

WIDE = ("amdgpu", "opencl", "ptx", "vulkan")
"""Vocabularies, by the beginnings of their names, with so many words that five events in a thread take ten seconds."""


def is_slow(name: str, sizes: tuple[int, ...]) -> bool:
    return sizes == (5,) and name.startswith(WIDE)


SIZES = ((2, 2), (3, 1), (2, 1, 1), (5,))
VIEWED = [
    pytest.param(name, sizes, marks=[pytest.mark.slow] * is_slow(name, sizes), id=f"{name}-{sizes}")
    for name, sizes in product(WHOLE, SIZES)
]


@pytest.mark.one_in(8)
@pytest.mark.parametrize(("name", "sizes"), VIEWED)
def test_views_are_what_the_oracle_sees(name, sizes):
    partial = (len(sizes) + len(name)) % 2 == 0
    views_are_what_the_oracle_sees(name, sizes, partial, models=3)


@pytest.mark.slow
@pytest.mark.parametrize("partial", [False, True], ids=["total", "partial"])
@pytest.mark.parametrize("sizes", [(2, 2), (1, 1, 1), (3, 3), (2, 2, 1), (4, 1), (1, 1, 1, 1), (6,)], ids=str)
@pytest.mark.parametrize("name", WHOLE)
def test_views_of_many_programs_are_what_the_oracle_sees(name, sizes, partial):
    views_are_what_the_oracle_sees(name, sizes, partial, models=15)


def views_are_what_the_oracle_sees(name, sizes, partial, models):
    """Of random programs with random outcomes, and of all their relaxations, none more and none less."""
    rng = Random(f"{name} {sizes}")
    with closing(Sampler(WHOLE[name], sizes, partial)) as drawn:
        for _ in range(models):
            held = drawn.model(rng)
            execution = held.execution()
            assert all(map(held, drawn.said(execution)))
            compare(held, drawn.view, execution, partial, drawn.words)
            expected = {called(execution, step, drawn.words): step for step in relaxations(execution, drawn.words)}
            applies = {each.name: each.view for each in drawn.relaxed if held(each.applies)}
            assert applies.keys() == expected.keys(), execution
            for name, step in expected.items():
                left = relaxed(execution, step, drawn.words)
                if left.steps:
                    compare(held, applies[name], left, partial, drawn.words)


@pytest.mark.one_in(5)
@pytest.mark.parametrize("name", WHOLE)
def test_every_program_is_a_model_of_the_formula(name):
    """In one order of its threads, at least; and the model stands for it."""
    rng, words = Random(name), WHOLE[name]
    for turn in range(12):
        drawn_at_random = random_execution(rng, words, partial=turn % 2 == 0)
        execution = replace(drawn_at_random, dependencies=one_branch_each(drawn_at_random.dependencies))
        sizes = [sum(step.kind.events for step in thread) for thread in execution.threads]
        order = sorted(range(len(sizes)), key=lambda number: -sizes[number])
        images = list(dict.fromkeys(execution.reordered(order).images()))
        with closing(Sampler(words, tuple(sorted(sizes, reverse=True)))) as programs:
            models = {image: programs.with_outcome(image) for image in images}
            assert any(models.values()), execution
            for image, held in models.items():
                assert held is None or held.execution() == image


def one_branch_each(dependencies):
    """Without branches on what was read when everything depends on that read already."""
    first = {}
    for dependency in dependencies:
        if dependency.kind == "ctrl":
            first[dependency.source] = min(dependency, first.get(dependency.source, dependency))
    return tuple(each for each in dependencies if each.kind != "ctrl" or first[each.source] == each)


def compare(held, view, execution, partial, words):
    """Every set and relation of a view, with and without initial writes, and the oracle's of the execution."""
    names = held.seen(view)
    co, order = (
        {(names[one], names[other]) for one, other in held.pairs(view.value(name)) if one < view.size}
        for name in ("co", "sync_fence")
    )
    listed = Listed(execution, partial, co, order)
    check_values(held, listed, names, execution, words, lambda initial: replace(view, initial_writes=initial))
