"""Repaired and weakened tests as text: what is read back is the test that was judged, and says no more than it may."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from random import Random

import pytest
from litmus_models import shipped

from corpus.dialects.registry import DIALECTS, parse_litmus, translate
from corpus.errors import InputError
from corpus.executions.execution import OpKind
from corpus.laws.c11 import explicit_failure
from corpus.litmus.instructions import Barrier, Fence, Load, Rmw, Store, registers_written, sequenced
from corpus.litmus.locations import Loc, Location
from corpus.litmus.normal import litmus_digest
from corpus.litmus.orders import Order, Place, is_atomic
from corpus.litmus.propositions import And, Atom, Condition, FinalRegister, Quantifier
from corpus.litmus.test import LitmusTest
from corpus.litmus.threads import Thread, accessed
from oracle.executions.judge import judge, outcomes
from synth.commands.fix import WHAT
from synth.repair.costs import read_costs
from synth.repair.fixing import Fixing, RepairQuestion, flags_raised
from synth.repair.sites import KINDS, Direction, ModelVocabulary, sites_of

MODELS = shipped()
FAMILIES = [
    ("c", "rc11"),
    ("c", "c11"),
    pytest.param("opencl", "opencl", marks=pytest.mark.slow),
    ("opencl", "rc11-scoped"),
    ("ptx", "ptx-6.0"),
    ("gpu-ptx", "ptx-rmo"),
    ("vulkan", "vulkan"),
]
SHAPES = (
    *("Wx Wy | Ry Rx", "Wx Ry | Wy Rx", "Rx Wy | Ry Wx", "Wx Wy | Wy Rx", "Wx Wy | Ry Wx", "Wx Wy | Wy Wx"),
    *("Wx | Rx Wy | Ry Rx", "Wx Wy | Ry Wz | Rz Rx", "Wx Wy Wy | Ry Rx", "Wx Rx | Wx Rx"),
)
MOST_ANSWERS = 2
COSTS = read_costs("ptx")
INSTRUCTIONS = Load | Store | Rmw | Fence | Barrier


def shaped(rng, words, atomics):
    """A classic shape, its accesses done in random ways, some of them updates, with fences here and there."""

    def way(kind):
        return rng.choice(words.ways(kind))

    def done(kind, name, number):
        """An access; in C some exchanges fail in an order of their own, and some in any case."""
        address, register = Loc(name), f"r{number}"
        if rng.random() < 0.3 and words.ways(OpKind.UPDATE):
            mode = way(OpKind.UPDATE)
            if not atomics or rng.random() < 0.5:
                return Rmw("exch", register, address, (number + 1,), mode)
            failure = explicit_failure(mode.order, rng.choice((Order.RELAXED, Order.ACQUIRE, None)))
            told = f"s{number}" if rng.random() < 0.3 else None
            return Rmw("cas", register, address, (rng.choice((0, 1)), number + 1), mode, failure=failure, success=told)
        return (
            Load(register, address, way(OpKind.READ)) if kind == "R" else Store(address, number + 1, way(OpKind.WRITE))
        )

    threads, apart = [], rng.random() < 0.7
    for place, column in enumerate(rng.choice(SHAPES).split(" | ")):
        accesses, body = column.split(), []
        unsequenced = atomics and len(accesses) == 2 and rng.random() < 0.2
        for number, (kind, name) in enumerate(accesses):
            sides = ((1, -1)[number],) if unsequenced else ()
            if number and rng.random() < 0.5 and words.ways(OpKind.FENCE):
                body.append(Fence(way(OpKind.FENCE), sides=sides))
            body.append(replace(done(kind, name, 3 * place + number), sides=sides))
        threads.append(Thread(sequenced(body), Place(cta=place if apart else 0)))
    locations = tuple(map(Location, "xyz"))
    return LitmusTest("shaped", tuple(threads), locations, Condition(Quantifier.EXISTS, Atom("eq", Loc("x"), 0)))


@cache
def given(dialect, name, direction, most):
    """Tests as the dialect says them, and what they forbid that they allow once all is as weak as it can be: as they
    are, to be weakened; to be repaired, as weak as they can be.
    """
    model, found = MODELS[name], []
    words = ModelVocabulary(model)
    for seed in range(400):
        made = shaped(Random(f"repaired {dialect} {seed}"), words, DIALECTS[dialect].atomic_types)
        try:
            test = parse_litmus(translate(made, DIALECTS[dialect]))
        except InputError:
            continue
        weaker = sites_of(test, DIALECTS[dialect], words, COSTS.of, Direction.WEAKER)
        weakest = weaker.with_levels((0,) * len(weaker.choices))
        asking = test if direction is Direction.WEAKER else weakest
        for outcome in sorted(seen(weakest, model) - seen(test, model), key=str)[:1]:
            asked = Condition(Quantifier.EXISTS, And(tuple(Atom("eq", term, value) for term, value in outcome)))
            found.append(replace(asking, condition=asked))
        if len(found) == most:
            break
    return found


def seen(test, model):
    """What threads read and what locations hold in the end, in all allowed executions."""
    names = [
        FinalRegister(number, name)
        for number, thread in enumerate(test.threads)
        for ins in thread.instructions
        if isinstance(ins, Load | Rmw)
        for name in registers_written(ins)
    ]
    terms = (*dict.fromkeys(names), *(Loc(location.name) for location in test.locations))
    return outcomes(replace(test, condition=Condition(Quantifier.EXISTS, And(()), observed=terms)), model, 2)


def is_right(test, model):
    return judge(test, model, 2).answer == "FORBIDDEN"


def answers(test, dialect, model, direction):
    """The question, and the first few repairs of a test."""
    flags = direction is Direction.WEAKER and not flags_raised(test, model, 2)
    question = RepairQuestion(model, 2, outcome=True, flags=flags)
    with Fixing([test], DIALECTS[dialect], question, COSTS, direction, WHAT) as fixing:
        return flags, [answer for answer, _ in zip(fixing, range(MOST_ANSWERS), strict=False)]


def worth(test):
    """What all instructions of a test cost."""
    every = (ins for thread in test.threads for ins in thread.instructions if isinstance(ins, INSTRUCTIONS))
    return sum(COSTS.of(KINDS[type(ins)], ins.mode) for ins in every)


def atomicity(test):
    """Which accesses are atomic, by location."""
    found = {}
    for number, thread in enumerate(test.threads):
        for at, names in accessed(thread):
            for name in names or {location.name for location in test.locations}:
                found.setdefault(name, {})[number, at] = is_atomic(thread.instructions[at].mode)
    return found


def plain_beside_atomic(test):
    return sum(list(each.values()).count(False) for each in atomicity(test).values() if len({*each.values()}) > 1)


TESTS = pytest.mark.parametrize("most", [3, pytest.param(6, marks=pytest.mark.slow)])


@pytest.mark.one_in(3)
@TESTS
@pytest.mark.parametrize("direction", Direction)
@pytest.mark.parametrize(("dialect", "name"), FAMILIES)
def test_what_is_read_back_is_the_test_that_was_judged(dialect, name, direction, most):
    model, changed = MODELS[name], 0
    for test in given(dialect, name, direction, most):
        flags, found = answers(test, dialect, model, direction)
        for answer in found:
            again = parse_litmus(translate(answer.tests[0], DIALECTS[dialect]))
            assert litmus_digest(again) == litmus_digest(answer.tests[0])
            assert is_right(again, model)
            assert not (flags and judge(again, model, 2).flags)
            assert answer.cost == worth(answer.tests[0]) - worth(test)
            if dialect in ("c", "opencl"):
                assert plain_beside_atomic(again) <= plain_beside_atomic(test)
            changed += bool(answer.changes)
    assert changed >= most // 3


@TESTS
@pytest.mark.parametrize(("dialect", "name"), FAMILIES)
def test_what_a_model_does_not_read_is_not_weakened(dialect, name, most):
    """Nor is anything else weakened than what it tells apart: of ways that are one to it the strongest is taken."""
    model = MODELS[name]
    words, weakened = ModelVocabulary(model), 0
    for test in given(dialect, name, Direction.WEAKER, most):
        for answer in answers(test, dialect, model, Direction.WEAKER)[1]:
            for kind, old, new in changes(test, answer.tests[0]):
                assert words.meaning(kind, old) != words.meaning(kind, new)
                above = [way for way in words.below(kind, old) if new in words.below(kind, way) - {way}]
                assert not any(words.meaning(kind, way) == words.meaning(kind, new) for way in above), (old, new, above)
                weakened += 1
    assert weakened >= 2


def changes(before, after):
    """The instructions that changed, as they were done and are done; None: not at all."""
    for old, new in zip(before.threads, after.threads, strict=True):
        waiting = [ins for ins in new.instructions if isinstance(ins, INSTRUCTIONS)]
        for ins in (ins for ins in old.instructions if isinstance(ins, INSTRUCTIONS)):
            kind = KINDS[type(ins)]
            gone = kind in (OpKind.FENCE, OpKind.BARRIER) and (not waiting or type(waiting[0]) is not type(ins))
            left = None if gone else waiting.pop(0).mode
            if left != ins.mode:
                yield kind, ins.mode, left
