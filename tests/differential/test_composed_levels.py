"""Composed promises: the oracle, arrays, executions and SAT agree, and with a scheduler made from the definitions."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from itertools import product
from random import Random

import pytest
from bruteforce import all_tests
from levels import cycles, may_hang
from reference_judge import promises
from test_progress_arrays import random_rows

from constraints.promises import PromiseHangs, verdicts_by_sat
from constraints.stuck import find_hang_by_sat
from corpus.hierarchy import HierarchyLevel
from corpus.progress.as_litmus import axb_test
from corpus.progress.axb import placed
from oracle.cat.syntax import shipped_models
from oracle.consistency import load_model
from oracle.executions.steps import TooManyError
from oracle.executions.stuck import find_hang
from oracle.exploration import NoVerdictError
from oracle.progress.explain import explain_system
from oracle.progress.fast.arrays import as_table, hangs_in_arrays
from oracle.progress.hierarchy import strictly_less_fair
from oracle.progress.lts import explore
from oracle.progress.models import (
    GUARANTEES,
    MODELS,
    Verdict,
    both_readings,
    delegates_of_hang,
    nobody_alone,
    unfold,
    verdicts,
)
from oracle.progress.plugins import resolve_models
from oracle.promises import LevelPromise, PlacedPromise, delegate_choices
from tests.random_spins import random_axb

TWO = [(0, 0, 0, 0), (0, 0, 0, 1), (0, 0, 1, 0)]
"""The places of the second of two threads, the first at ``TWO[0]``: in its subgroup, its workgroup, another one."""

PLACEMENTS = [(TWO[0], place) for place in TWO]


def composed(*parts):
    """The weak and the strong model of promises ``(level, guarantee)``, and the same for the scheduler."""
    levels = tuple(LevelPromise(HierarchyLevel[word.upper()], GUARANTEES[name]) for word, name in parts)
    return [
        (type(model)(model.name, nobody_alone, model.strong, levels=levels), scheduled(parts))
        for model in both_readings(str(parts), nobody_alone)
    ]


def scheduled(parts):
    return [(word, lambda running, stepped, name=name: promises(name, running, stepped)) for word, name in parts]


PAIRS = [
    pair
    for outer, inner in product(GUARANTEES, repeat=2)
    for pair in composed(("workgroup", outer), ("subgroup", inner))
]


def assert_agreement(program, pairs, placements):
    rows = explore(program).successors
    with PromiseHangs(rows) as solved:
        return compared(program, rows, solved, pairs, placements)


def compared(program, rows, solved, pairs, placements):
    found, history, table = cycles(rows), unfold(rows), as_table(rows)
    hanging = 0
    for places in placements:
        models = [model.among(places) for model, _ in pairs]
        weak, strong = hangs_in_arrays(table, [], placed=[model.placed for model in models])
        for number, (model, (_, levels)) in enumerate(zip(models, pairs, strict=True)):
            said = delegates_of_hang(history, model) is not None
            assert said == may_hang(found, levels, places, model.strong), (model, places, program)
            assert said == (strong if model.strong else weak) >> number & 1, (model, places, program)
            assert said == solved.may_hang(model.levels, places, model.strong), (model, places, program)
            hanging += said
    return hanging


@pytest.mark.parametrize("bound", [(2, 2), pytest.param((2, 3), marks=pytest.mark.slow)], ids=str)
def test_every_program_in_every_placement_under_every_pair_of_promises(bound):
    programs = all_tests(*bound)
    hanging = sum(assert_agreement(program, PAIRS, PLACEMENTS) for program in programs)
    asked = len(programs) * len(PAIRS) * len(PLACEMENTS)
    assert asked / 4 < hanging < asked * 3 / 4


NAMES = [f"{a}@workgroup & {b}@subgroup-weak" for a in ("hsa", "lobe", "fair") for b in GUARANTEES]


def random_places(rng, threads):
    return tuple((0, rng.randint(0, 1), rng.randint(0, 1), rng.randint(0, 1)) for _ in range(threads))


def test_random_programs_of_three_threads_at_three_levels():
    rng = Random(5)
    for _ in range(60):
        program = random_axb(rng, 3, 2)
        words = sorted(rng.sample(["device", "queuefamily", "workgroup", "subgroup", "thread"], rng.randint(2, 3)),
                       key=lambda word: HierarchyLevel[word.upper()].value)  # fmt: skip
        pairs = composed(*((word, rng.choice(list(GUARANTEES))) for word in words))
        assert_agreement(program, pairs, [random_places(rng, 3) for _ in range(3)])


def test_models_that_ship_and_a_users_by_sat():
    """Promises to threads are promises at the level of threads, in whatever groups they are."""

    def last(running, stepped):
        return 1 << running.bit_length() >> 1

    rng = Random(9)
    for _ in range(40):
        program = placed(random_axb(rng, 3, 2), random_places(rng, 3))
        models = [*MODELS.values(), *both_readings("last", last), *resolve_models(["hsa@queuefamily & obe@workgroup"])]
        mine = tuple(LevelPromise(level, last) for level in (HierarchyLevel.WORKGROUP, HierarchyLevel.SUBGROUP))
        models += [replace(each, levels=mine) for each in both_readings("mine", nobody_alone)]
        assert verdicts_by_sat(program, models) == verdicts(program, models)


def test_what_a_less_fair_model_passes_a_fairer_one_passes():
    names = ["hsa@wg & obe@sg", "hsa@wg & fair@sg", "lobe@wg & obe@sg", "fair@wg & unfair@sg", "fair"]
    models = resolve_models(names)
    below = strictly_less_fair(models)
    assert sum(map(len, below.values())) > 20
    rng = Random(10)
    programs = [random_axb(rng, 3, 2) for _ in range(40)]
    for program in rng.sample(all_tests(2, 3), 60) + programs:
        said = verdicts(placed(program, random_places(rng, len(program.threads))), models)
        for model, lesser in below.items():
            assert said[model] == "TERMINATES" or all(said[name] == "MAY_HANG" for name in lesser), (model, program)


def test_systems_whose_threads_wait():
    rng = Random(6)
    for _ in range(300):
        rows = random_rows(rng)
        places = random_places(rng, len(rows[0]))
        pairs = composed(("workgroup", rng.choice(list(GUARANTEES))), ("subgroup", rng.choice(list(GUARANTEES))))
        models = [model.among(places) for model, _ in pairs]
        said = [delegates_of_hang(unfold(rows), model) is not None for model in models]
        assert tuple(said) == tuple(map(bool, hangs_in_arrays(as_table(rows), [], placed=[models[0].placed])))


def test_explanations_and_one_level():
    """A lasso keeps the promise to its delegates; a promise at one level, or to threads, is one as before."""
    rng = Random(7)
    for _ in range(40):
        program = random_axb(rng, 3, 2)
        places = random_places(rng, 3)
        system = explore(program)
        for model, _ in composed(("workgroup", rng.choice(list(GUARANTEES))), ("thread", rng.choice(list(GUARANTEES)))):
            hangs = delegates_of_hang(unfold(system.successors), model.among(places)) is not None
            said = explain_system(system, model.among(places))
            assert (said.verdict is Verdict.MAY_HANG) == hangs
        for name in GUARANTEES:
            alone = PlacedPromise([LevelPromise(HierarchyLevel.THREAD, GUARANTEES[name])], places)
            in_fair = PlacedPromise([LevelPromise(HierarchyLevel.SUBGROUP, GUARANTEES["fair"]), *alone.levels], places)
            for running, stepped in product(range(1, 8), range(8)):
                mask = GUARANTEES[name](running, stepped)
                order = sorted(range(3), key=lambda t: (*places[t], t))
                if order == [0, 1, 2]:
                    assert sum(alone.sets(running, stepped)) == mask
                    if len(set(places)) == 1 and mask:
                        assert sum(in_fair.sets(running, stepped)) == mask


def test_executions_and_sat_agree_with_the_transition_system():
    """Weak fairness under SC."""
    rng = Random(11)
    sc = load_model(shipped_models()["sc"], "sc")
    compared = hanging = missed = 0
    for program in rng.sample(all_tests(2, 3), 7):
        for places in PLACEMENTS:
            at = placed(program, places)
            test = axb_test(at, "placed")
            assert [tuple(thread.place) for thread in test.threads] == list(places)
            for name in rng.sample(NAMES, 3):
                (model,) = resolve_models([name])
                promise = model.among(places).promise
                verdict = verdicts(at, [model])[name]
                hangs = verdict is Verdict.MAY_HANG
                for find in (find_hang_by_sat, find_hang):
                    with suppress(TooManyError):
                        found = find(test, promise, sc)
                        # A hang whose rounds are not in step is not found, and the answer says that it is bounded.
                        assert (found.hang is not None) == hangs or (hangs and found.provisional), (name, at)
                        compared, hanging = compared + 1, hanging + (found.hang is not None)
                        missed += hangs and found.hang is None
    assert compared / 5 < hanging < compared * 19 / 20 and missed < compared / 5


def test_choices_of_delegates_that_are_too_many_are_no_verdict():
    pairs = tuple(3 << number for number in range(17))
    assert len(delegate_choices([pairs[:3], pairs[:1]])) == 7  # of 8, for two come to the same threads
    with pytest.raises(NoVerdictError, match="choices of the threads that stand for their groups"):
        delegate_choices([pairs, ()])
