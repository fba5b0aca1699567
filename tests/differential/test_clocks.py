"""Vector clocks say of execution graphs what ``rc11.cat`` says: of each that is looked at while executions grow."""

from collections import Counter
from random import Random

import pytest

from corpus.litmus.instructions import Fence, Load, Rmw, Store
from corpus.litmus.locations import Loc, Location
from corpus.litmus.orders import Mode, Order, Place, Scope
from corpus.litmus.propositions import And, Condition, Quantifier
from corpus.litmus.test import LitmusTest
from corpus.litmus.threads import Thread
from oracle.cat.syntax import shipped_models
from oracle.consistency import load_model
from oracle.executions.clocks import DATA_RACE, Clocks, allowed_by_clocks, races_by_clocks
from oracle.executions.graphs import GraphBase
from oracle.executions.stateless import Growth
from oracle.executions.steps import TooManyError

RC11 = load_model(shipped_models()["rc11"], "rc11")
LOADS = (Order.WEAK, Order.RELAXED, Order.ACQUIRE, Order.SC, Order.SC)
STORES = (Order.WEAK, Order.RELAXED, Order.RELEASE, Order.SC, Order.SC)
UPDATES = (Order.RELAXED, Order.ACQUIRE, Order.RELEASE, Order.ACQ_REL, Order.SC)
FENCES = (Order.ACQUIRE, Order.RELEASE, Order.ACQ_REL)


def ordered(rng, orders, often):
    """One of some orders; sequentially consistent as often as is said, besides."""
    order = Order.SC if rng.random() < often else rng.choice(orders)
    return Mode(order) if order is Order.WEAK else Mode(order, Scope.SYS)


def random_program(rng, fences, most_threads):
    """A test of several threads that access few locations in all orders, or most often in that of ``SC``."""
    often = rng.choice([0, 0.9])
    names, number, threads = "xyz"[: rng.choice([1, 2, 2, 3])], 0, []
    for _ in range(rng.choice(range(2, most_threads + 1))):
        code = []
        for step in range(rng.choice([2, 3, 4])):
            location, number = Loc(rng.choice(names)), number + 1
            kind = rng.choice("LLSSUF")
            if kind == "L":
                code.append(Load(f"r{step}", location, ordered(rng, LOADS, often)))
            elif kind == "S":
                code.append(Store(location, number, ordered(rng, STORES, often)))
            elif kind == "U":
                code.append(Rmw("add", f"r{step}", location, (1,), ordered(rng, UPDATES, often)))
            else:
                code.append(Fence(ordered(rng, fences, 0)))
        threads.append(Thread(tuple(code), Place()))
    condition = Condition(Quantifier.EXISTS, And(()))
    return LitmusTest("clocks", tuple(threads), tuple(map(Location, names)), condition)


class _Compared(Growth):
    """A growth whose graphs are judged by clocks and by the model, and that goes on as the model says."""

    said: Counter[object]

    def _allows(self, graph):
        told = self._model.allows(GraphBase(self._test, graph))
        said = allowed_by_clocks(graph)
        assert said in (None, told), graph
        self.said[said, told] += 1
        self.said["cycle"] += said is False and Clocks(graph).is_coherent()
        return told


def compared(tests):
    said, races = Counter(), Counter()
    for test in tests:
        growth = _Compared(test, RC11, 1, 6_000)
        growth.said = said
        try:
            for number, found in enumerate(growth.executions()):
                if number % 5 == 0:
                    flags = {result.check.name for result in RC11.raised(GraphBase(test, found.graph))}
                    assert races_by_clocks(found.graph) == (DATA_RACE in flags), found.graph
                    races[DATA_RACE in flags] += 1
        except TooManyError:
            continue
    return said, races


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 10))])
def test_clocks_say_what_the_model_says(seed):
    rng = Random(seed)
    said, races = compared(random_program(rng, FENCES, 4) for _ in range(100 if seed == 1 else 600))
    assert said[False, False] > 300 and said[True, True] > 300 and said["cycle"] > 100
    assert min(races[True], races[False]) > 30


def test_of_fences_that_are_sc_clocks_say_nothing():
    rng = Random(11)
    said, races = compared(random_program(rng, (Order.SC,), 3) for _ in range(80))
    assert said[None, True] > 30 and said[None, False] > 30
    assert min(races[True], races[False]) > 5


def test_the_flags_of_the_model_are_data_races_alone():
    assert [check.name for check in RC11.flags] == [DATA_RACE]
