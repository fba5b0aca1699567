"""The random litmus tests have what they are for: every feature, and conditions that tell executions apart."""

from collections import Counter
from random import Random

import pytest
from litmus_interleavings import TooManyStatesError, verdicts
from litmus_random import ALL, PLAIN, POINTER, PROFILES, random_test

from corpus.litmus.instructions import Assign, Barrier, Branch, Fence, Label, Load, Rmw, Store, operands_of
from corpus.litmus.locations import Loc, Reg, Region
from corpus.litmus.orders import Order, Scope


def features(test):
    """What a test has, by name."""
    if len(test.threads) > 1:
        for scope in (Scope.WARP, Scope.CTA, Scope.GPU):
            together = test.threads[0].place.shares(test.threads[1].place, scope)
            yield f"{'one' if together else 'two'} {scope.label}"
    yield from (location.region for location in test.locations if location.region is Region.SHARED)
    yield test.condition.quantifier
    if test.condition.filter is not None:
        yield "filter"
    for thread in test.threads:
        loaded, computed, seen = set(), set(), set()
        if thread.registers:
            yield "initial register"
        for ins in thread.instructions:
            yield type(ins).__name__
            if isinstance(ins, Label):
                seen.add(ins.name)
                continue
            if ins.guard is not None:
                yield "guard"
            used = {operand.name for operand in operands_of(ins) if isinstance(operand, Reg)}
            if isinstance(ins, Branch):
                yield "loop" if ins.label in seen else "forward"
                if used & loaded:
                    yield "ctrl"
            if isinstance(ins, Assign) and used & (loaded | computed):
                computed.add(ins.target)
            if isinstance(ins, Load | Store | Rmw | Fence):
                yield from (ins.mode.order, ins.mode.scope, ins.mode.cache)
                yield "volatile" if ins.mode.volatile else ""
            if isinstance(ins, Load | Store | Rmw):
                if isinstance(ins.address, Reg) and ins.address.name in computed:
                    yield "addr"
                if isinstance(ins.address, Reg) and ins.address.name in loaded:
                    yield "dereference"
                if Loc(POINTER) in operands_of(ins):
                    yield "pointer"
            if isinstance(ins, Store) and isinstance(ins.value, Reg):
                yield "data" if ins.value.name in loaded else "computed data"
            if isinstance(ins, Rmw):
                yield f"{ins.operation}{'' if ins.target else ' reduction'}"
            if isinstance(ins, Load | Rmw) and ins.target:
                loaded.add(ins.target)


def test_every_feature_occurs():
    rng = Random(1)
    found = Counter(feature for _ in range(1000) for feature in set(features(random_test(rng, ALL))))
    wanted = {
        *(kind.__name__ for kind in (Load, Store, Rmw, Fence, Barrier, Assign, Branch, Label)),
        *Order,
        *(
            Scope.CTA,
            Scope.GPU,
            Scope.SYS,
            "ca",
            "cg",
            "volatile",
            Region.SHARED,
            "filter",
            "exists",
            "~exists",
            "forall",
        ),
        *("one warp", "two warp", "one cta", "two cta", "two gpu", "initial register"),
        *("guard", "forward", "loop", "ctrl", "addr", "data", "computed data", "pointer", "dereference"),
        *("exch", "cas", "add", "min", "add reduction"),
    }
    assert {feature: found[feature] for feature in wanted if found[feature] < 10} == {}


@pytest.mark.parametrize("profile", PROFILES, ids=lambda profile: profile.name)
def test_conditions_hold_sometimes_and_tests_stay_small(profile):
    rng, seen = Random(profile.name), Counter()
    for _ in range(150):
        test = random_test(rng, profile)
        instructions = [ins for thread in test.threads for ins in thread.instructions]
        loops = any(isinstance(ins, Branch) for ins in instructions)
        events = sum(2 if isinstance(ins, Rmw) else isinstance(ins, Load | Store) for ins in instructions)
        assert events <= profile.events and all(thread.instructions for thread in test.threads)
        try:
            seen[verdicts(test)] += 1
        except TooManyStatesError:
            assert loops
            seen["endless"] += 1
    assert seen["endless"] <= 5
    assert seen[frozenset({True, False})] >= 15 and seen[frozenset({False})] >= 15 and seen[frozenset({True})] >= 5


def test_two_seeds_two_tests():
    assert random_test(Random(1), PLAIN) == random_test(Random(1), PLAIN) != random_test(Random(2), PLAIN)
