"""Sets of models as diagrams, and what is inferred from them, against plain sets of assignments."""

from __future__ import annotations

from itertools import combinations, product

from hypothesis import given, settings
from hypothesis import strategies as st

from constraints.inference import ExtremeClaim, proved
from oracle.inference.classes import SketchTest, model_classes, next_test, separating, strongest, weakest
from oracle.inference.fitting import Fact, fewest_violations, fitting, smallest_core
from oracle.inference.model_sets import ModelSet, ModelSpace, algebra_of

NAMES = ("a", "b", "c", "d")
EVERY = list(product((False, True), repeat=len(NAMES)))

plain_sets = st.frozensets(st.sampled_from(EVERY), max_size=16)


def diagram(space: ModelSpace, members: frozenset[tuple[bool, ...]]) -> ModelSet:
    return space.containing(list(members))


@given(plain_sets, plain_sets)
def test_operations_are_those_of_sets(one, other):
    space = ModelSpace(NAMES)
    left, right = diagram(space, one), diagram(space, other)
    for made, expected in (
        (left & right, one & other),
        (left | right, one | other),
        (left - right, one - other),
        (~left, frozenset(EVERY) - one),
    ):
        assert made is diagram(space, frozenset(expected))
        assert set(space.members(made)) == set(expected)
        assert made.size == len(expected)
        assert bool(made) is bool(expected)
        assert all((each in made) is (each in expected) for each in EVERY)
    assert (left <= right) is (one <= other)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), plain_sets), max_size=8))
def test_acyclic_relations_are_those_of_each_model(pairs):
    space = ModelSpace(NAMES)
    algebra = algebra_of(space.every, 4)
    rows: list[dict[int, ModelSet]] = [{} for _ in range(4)]
    for one, other, members in pairs:
        truth = diagram(space, members)
        if truth:
            rows[one][other] = rows[one].get(other, space.none) | truth
    acyclic = algebra.is_acyclic(tuple(rows))
    closed = algebra.is_irreflexive(algebra.closure(tuple(rows)))
    assert acyclic is closed


facts_of = st.lists(st.tuples(st.booleans(), plain_sets), min_size=1, max_size=6)


@given(facts_of)
def test_contradictions_are_the_smallest(given_facts):
    space = ModelSpace(NAMES)
    facts = [
        Fact(f"f{number}", allowed, diagram(space, members)) for number, (allowed, members) in enumerate(given_facts)
    ]
    violated = {each: [fact for fact in facts if each not in fact.fitting] for each in EVERY}
    least = min(map(len, violated.values()))
    found = fewest_violations(space.every, facts)
    best = frozenset(each for each, some in violated.items() if len(some) == least)
    assert found.number == least and found.models is diagram(space, best)
    assert list(found.violated) == [fact for fact in facts if all(fact in violated[each] for each in best)]
    core = smallest_core(space.every, facts)
    if least == 0:
        assert core == () and bool(fitting(space.every, facts))
        return
    sizes = [
        size
        for size in range(1, len(facts) + 1)
        for some in combinations(facts, size)
        if not fitting(space.every, some)
    ]
    assert len(core) == min(sizes) and not fitting(space.every, core)


@settings(max_examples=60)
@given(plain_sets, st.lists(plain_sets, max_size=5))
def test_classes_and_extremes_are_those_of_all_models(fit, allowings):
    space = ModelSpace(NAMES)
    models = diagram(space, fit)
    tests = [SketchTest(f"t{n}", n % 3, diagram(space, each)) for n, each in enumerate(allowings)]
    vectors = {tuple(each in test.allowing for test in tests) for each in fit}
    classes = model_classes(models, tests)
    assert sorted(each.verdicts for each in classes) == sorted(vectors)
    for each in classes:
        members = {member for member in fit if tuple(member in test.allowing for test in tests) == each.verdicts}
        assert set(space.members(each.models)) == members

    def below(one, other):
        return one != other and all(not mine or theirs for mine, theirs in zip(one, other, strict=True))

    weak = {each.verdicts for each in weakest(models, tests)}
    strong = {each.verdicts for each in strongest(models, tests)}
    assert weak == {each for each in vectors if not any(below(each, other) for other in vectors)}
    assert strong == {each for each in vectors if not any(below(other, each) for other in vectors)}
    apart = [test for test in tests if len({each in test.allowing for each in fit}) == 2]
    chosen = next_test(models, tests)
    assert (chosen is None) is (not apart)
    assert chosen is None or chosen.size == min(test.size for test in apart)
    assert {test.name for test in separating(models, tests)} <= {test.name for test in apart}
    if fit:
        claims = [
            ExtremeClaim("weakest", sorted(weak), True),
            ExtremeClaim("strongest", sorted(strong), False),
        ]
        facts = [Fact("fit", True, models)]
        assert len(proved(claims, space.every, facts, tests)) == 2
