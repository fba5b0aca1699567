"""The family of promises: its members are the models that ship and composed ones, and none is judged otherwise."""

from itertools import product

import pytest

from backends.shared.mapping import PLACEMENTS
from corpus.errors import InputError
from corpus.hierarchy import HierarchyLevel
from corpus.progress.text import program_of
from oracle.inference.classes import model_classes
from oracle.inference.promise_family import (
    ELEMENTARY,
    ELEMENTARY_TEXTS,
    UNIONS,
    is_promise_family,
    promise_family,
)
from oracle.progress.hierarchy import at_most_as_fair
from oracle.progress.lts import explore
from oracle.progress.models import GUARANTEES, MODELS, Verdict, system_verdicts, verdicts
from synth.inference.promises import PromiseJudge, suite, suite_tests

BOUNDS = ((2, 2), (2, 3), (3, 3))


def names(models):
    return {model.name for model in models}


def test_the_models_that_ship_are_members_and_are_judged_as_ever():
    family = promise_family("progress")
    assert names(MODELS.values()) < names(family.models(family.valid))
    members = {name: family.member(name) for name in MODELS}
    assert all(member.size == 1 for member in members.values())
    said = set()
    for test in (*suite((2, 2)), *suite((2, 3))[::3], *suite((3, 3))):
        program = program_of(test)
        hanging = family.may_hang_program(program)
        for name, verdict in verdicts(program).items():
            assert bool(members[name] & hanging) == (verdict == Verdict.MAY_HANG), (test.name, name)
            said.add((name, verdict))
    assert len(said) == 2 * len(MODELS) - 3  # no test terminates under unfair, and none hangs under strong fairness


@pytest.mark.parametrize("placement", ["workgroup", "subgroup", "mixed"])
def test_composed_members_are_judged_as_composed_models(placement):
    family = promise_family("progress@workgroup & progress@subgroup")
    models = family.models(family.valid)
    assert len(models) == family.valid.size == 2 * len(UNIONS) ** 2
    members = [family.member(model.name) for model in models[::7]]
    tests = (*suite((2, 2)), *suite((2, 3))[::40], *suite((3, 3))[::12])
    for test in tests:
        program = program_of(test)
        places = PLACEMENTS[placement].places(test.threads) if placement in PLACEMENTS else MIXED[test.threads]
        system = explore(program).successors
        hanging = family.may_hang(system, places)
        expected = system_verdicts(system, [model.among(places) for model in models[::7]])
        for model, member in zip(models[::7], members, strict=True):
            assert bool(member & hanging) == (expected[model.name] == Verdict.MAY_HANG), (test.name, model.name)


MIXED = {2: ((0, 0, 0, 0), (0, 0, 1, 0)), 3: ((0, 0, 0, 0), (0, 0, 0, 1), (0, 0, 1, 0))}


def test_what_no_scheduler_tells_apart():
    """Thirteen classes, and programs of two and of three threads with three instructions tell them apart."""
    judge = PromiseJudge(promise_family("progress"))
    tests = [each.sketch for bound in BOUNDS for each in suite_tests(judge, bound, ["device"])]
    classes = [names(judge.family.models(each.models)) for each in model_classes(judge.family.valid, tests)]
    assert sorted(map(sorted, (each for each in classes if len(each) > 1))) == [
        ["below-strong", "lowest+below-strong"],
        ["below-weak", "lowest+below-weak"],
        ["unfair-strong", "unfair-weak"],
    ]
    assert len(classes) == 13


@pytest.mark.slow
@pytest.mark.parametrize("bound", [(2, 4), (3, 4), (4, 4)])
def test_no_larger_program_tells_more_apart(bound):
    judge = PromiseJudge(promise_family("progress"))
    tests = [each.sketch for each in suite_tests(judge, bound, ["device"])]
    for pair in (("below", "lowest+below"), ("unfair", "unfair")):
        for one, other in product(("weak", "strong"), repeat=2):
            if one == other or pair[0] == pair[1]:
                both = judge.family.member(f"{pair[0]}-{one}") | judge.family.member(f"{pair[1]}-{other}")
                assert len(model_classes(both, tests)) == 1


def test_the_third_of_lowest_started_and_below_adds_nothing():
    def union(running, stepped):
        return ELEMENTARY["lowest"](running, stepped) | GUARANTEES["lobe"](running, stepped)

    assert at_most_as_fair(union, GUARANTEES["lobe"]) and at_most_as_fair(GUARANTEES["lobe"], union)


def test_elementary_promises_have_their_texts():
    for name, promise in ELEMENTARY.items():
        for running, stepped in product(range(8), repeat=2):
            values = {"running": running, "stepped": stepped}
            assert eval(ELEMENTARY_TEXTS[name], values) == promise(running, stepped)
    lobe = {union.parts: union.guarantee for union in UNIONS}["started", "below"]
    started, below = ELEMENTARY["started"], ELEMENTARY["below"]
    for running, stepped in product(range(8), repeat=2):
        assert started(running, stepped) | below(running, stepped) == lobe(running, stepped)


def test_names_of_families():
    one = promise_family("hsa@workgroup & progress@subgroup-weak")
    assert [level.promise.level for level in one.levels] == [HierarchyLevel.WORKGROUP, HierarchyLevel.SUBGROUP]
    assert one.valid.size == len(UNIONS)
    assert "hsa@workgroup & obe@subgroup-weak" in names(one.models(one.valid))
    assert promise_family("progress-strong").valid.size == len(UNIONS)
    assert promise_family("progress@cta").levels[0].promise.level is HierarchyLevel.WORKGROUP
    assert is_promise_family("hsa@cta & progress@warp") and not is_promise_family("progress.cat")
    assert not is_promise_family("hsa@workgroup & obe@subgroup")
    for wrong in ("progress & progress", "progress@workgroup & hsa", "hsa@cta & obe@warp", "progress@x & hsa@cta"):
        with pytest.raises(InputError):
            promise_family(wrong)
