"""Executions that are grown event by event are those that listing finds, and hang where a solver finds a hang."""

from dataclasses import replace
from random import Random

import pytest

from constraints.witnesses import ExecutionSearch
from corpus.litmus.instructions import Branch, Comparison, Label, Load, Rmw, Store
from corpus.litmus.locations import Loc, Location, Reg
from corpus.litmus.orders import Mode, Order, Place, Scope
from corpus.litmus.propositions import And, Condition, FinalRegister, Quantifier
from corpus.litmus.test import LitmusTest
from corpus.litmus.threads import Thread
from oracle.cat.rows import rows
from oracle.cat.syntax import shipped_models
from oracle.consistency import load_model
from oracle.executions.flow import asked_terms
from oracle.executions.graphs import GraphBase, base_of
from oracle.executions.grown import GrownExecutions
from oracle.executions.judge import is_complete, judged
from oracle.executions.stateless import GROWN_MODELS, Growth
from oracle.executions.steps import TooManyError
from oracle.executions.threads import unroll_threads
from oracle.liveness import resolve_liveness_models
from synth.checking.questions import PROGRESS
from synth.memory.liveness import explain_liveness
from tests.litmus_random import C11, C_WHOLE, random_test
from tests.random_spins import random_spins

MODELS = {name: load_model(shipped_models()[name], name) for name in GROWN_MODELS}
SEQUENCED = replace(C_WHOLE, name="sequenced", operands=False)
UNROLL = 2


def listed(test, model):
    """The outcomes of allowed executions, their number, the flags that they raise, and whether all are seen."""
    threads = unroll_threads(test, UNROLL)
    count, outcomes, flags = 0, set(), set()
    for batch, allowed, results in judged(test, threads, model, forbidden=False):
        count += allowed.bit_count()
        outcomes |= batch.outcomes(allowed, asked_terms(test))
        flags |= {result.check.name for result in results if result.check.flag and result.truth & allowed}
    bounded = any(thread.bounded for thread in threads)
    return outcomes, count, flags, bounded, not bounded or is_complete(test, threads, model)


def grown(test, model):
    """The same by growing, and the executions themselves."""
    found = GrownExecutions(test, model, UNROLL, most=150_000)
    outcomes, count = set(), 0
    for number, execution in enumerate(found._grown):
        finals = found._execution(execution).finals
        if found.ended.mask >> number & 1:
            outcomes.add(tuple((term, finals[term]) for term in asked_terms(test)))
            count += 1
    return found, outcomes, count, {name for name, question in found.flags.items() if question.mask}


@pytest.mark.parametrize("profile", [C11, SEQUENCED], ids=lambda profile: profile.name)
@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_executions_are_those_that_are_listed(profile, seed):
    rng, compared, whole = Random(seed), 0, 0
    for _ in range(60 if seed == 1 else 600):
        test = random_test(rng, profile)
        for model in MODELS.values():
            try:
                there, number, raised, bounded, complete = listed(test, model)
                found, outcomes, count, flags = grown(test, model)
            except TooManyError:
                continue
            compared += 1
            assert there <= outcomes and raised <= flags, (test, model.name)
            if complete and not found.cut:
                assert outcomes == there, (test, model.name)
            if not bounded and not found.cut:
                whole += 1
                assert (count, flags) == (number, raised), (test, model.name)
    assert compared > 50 and whole > 30


def test_models_judge_rows_of_bits_as_they_judge_relations():
    rng, judgements = Random(3), 0
    for _ in range(40):
        test = random_test(rng, C11)
        try:
            graphs = [found.graph for found in Growth(test, MODELS["sc"], 1, 50_000).executions()][:20]
        except TooManyError:
            continue
        for name in ("rc11", "sc", "c11", "tso", "rc11-scoped"):
            model = load_model(shipped_models()[name], name)
            for graph in graphs:
                one, other = model.judge(GraphBase(test, graph)), model.judge(base_of(test, graph))
                assert [result.truth for result in one] == [result.truth for result in other], name
                judgements += 1
    assert judgements > 500


def test_rows_are_an_algebra():
    algebra = rows(3)
    one, other = (0b010, 0b100, 0), (0b110, 0, 0b001)
    assert algebra.compose(one, other) == (0, 0b001, 0)
    assert algebra.closure(one) == (0b110, 0b100, 0)
    assert algebra.inverse(one) == (0, 0b001, 0b010)
    assert (algebra.is_acyclic(one), algebra.is_acyclic(algebra.union(one, other))) == (1, 0)
    assert algebra.product(0b001, {}) == (0, 0, 0)
    assert algebra.domain(one) == 0b011


def atomic(order):
    return Mode(order, Scope.SYS)


def waiting_test(rng):
    """A test whose threads store, update, and wait in loops for values."""
    threads, asked, loops = [], [], 0
    for number in range(rng.choice([2, 2, 3])):
        code = []
        for step in range(rng.choice([1, 2, 2])):
            register, location, value = f"r{step}", Loc(rng.choice("xyz")), rng.choice([0, 1])
            order = atomic(rng.choice([Order.RELAXED, Order.ACQUIRE, Order.SC]))
            kind = rng.choice(["store", "store", "plain", "update", "load", "until", "swap", "lock"])
            if kind == "store":
                order = rng.choice([atomic(Order.RELAXED), atomic(Order.RELEASE), atomic(Order.SC), Mode(Order.WEAK)])
                code.append(Store(location, rng.choice([0, 1, 2]), order))
                continue
            if kind == "plain":
                order, kind = Mode(Order.WEAK), rng.choice(["load", "until"])
            asked.append(FinalRegister(number, register))
            access = {
                "update": Rmw(rng.choice(["exch", "add"]), register, location, (value,), order),
                "swap": Rmw("cas", register, location, (value, rng.choice([1, 2])), order),
                "lock": Rmw("exch", register, location, (1,), order),
            }.get(kind, Load(register, location, order))
            again = {"until": ("eq", value), "swap": ("ne", value), "lock": ("ne", 0)}.get(kind)
            loops += 1
            code += [Label(f"L{loops}"), access]
            if again and rng.random() < 0.3:  # a round that does more than it waits for
                end, other = f"E{loops}", Loc(rng.choice("xyz"))
                more = Load(f"s{step}", other, rng.choice([atomic(Order.RELAXED), Mode(Order.WEAK)]))
                more = rng.choice([more, Rmw("exch", None, other, (1,), atomic(Order.RELAXED))])
                opposite = {"eq": "ne", "ne": "eq"}[again[0]]
                code += [Branch(end, Comparison(opposite, Reg(register), again[1])), more]
                code += [Branch(f"L{loops}"), Label(end)]
            elif again:
                code.append(Branch(f"L{loops}", Comparison(again[0], Reg(register), again[1])))
        threads.append(Thread(tuple(code), Place(cta=number)))
    observed = tuple(asked) if rng.random() < 0.5 else ()
    condition = Condition(Quantifier.EXISTS, And(()), observed=observed)
    return LitmusTest("waiting", tuple(threads), (Location("x"), Location("y"), Location("z")), condition)


def telling_test(rng):
    """A test with a thread that waits, accesses z in each round that it waits, and then tells another, which accesses z
    too, or waits for z; in any order of threads.
    """

    def mode(*orders):
        order = rng.choice([Order.RELAXED, Order.SC, *orders])
        return Mode(order) if order is Order.WEAK else atomic(order)

    def access(register):
        return rng.choice(
            [
                Load(register, Loc("z"), mode(Order.ACQUIRE, Order.WEAK)),
                Store(Loc("z"), 1, mode(Order.RELEASE, Order.WEAK)),
                Rmw("exch", register, Loc("z"), (1,), mode(Order.ACQUIRE)),
            ]
        )

    sets = [Store(Loc("x"), 1, mode(Order.RELEASE))]
    waits = [Label("L"), Load("r0", Loc("x"), mode(Order.ACQUIRE)), Branch("E", Comparison("ne", Reg("r0"), 0))]
    waits += [access("r1"), Branch("L"), Label("E"), Store(Loc("y"), 1, mode(Order.RELEASE))]
    told = [Load("r0", Loc("y"), mode(Order.ACQUIRE)), Branch("E2", Comparison("eq", Reg("r0"), 0)), access("r1")]
    until = [Label("M"), Load("r1", Loc("z"), mode(Order.WEAK)), Branch("M", Comparison("eq", Reg("r1"), 1))]
    bodies = [sets, waits, rng.choice([[*told, Label("E2")], until])]
    rng.shuffle(bodies)
    threads = tuple(Thread(tuple(body), Place(cta=number)) for number, body in enumerate(bodies))
    locations = tuple(Location(name, rng.choice([0, 0, 1]) if name == "z" else 0) for name in "xyz")
    return LitmusTest("telling", threads, locations, Condition(Quantifier.EXISTS, And(())))


@pytest.mark.parametrize("made", [waiting_test, telling_test, random_spins], ids=["waiting", "telling", "spins"])
@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_programs_hang_where_a_solver_finds_a_hang(made, seed):
    rng, seen = Random(seed), set()
    for _ in range(12 if seed == 1 else 120):
        test = made(rng)
        for name, model in MODELS.items():
            try:
                found = GrownExecutions(test, model, UNROLL, most=60_000)
            except TooManyError:
                continue
            for progress in PROGRESS:
                (liveness,) = resolve_liveness_models([f"{progress} & {name}"])
                promise = liveness.progress_of(test).promise
                other = explain_liveness(test, liveness, UNROLL)
                hang = found.hang(progress, promise)
                if hang is not None or not other.hanging.provisional:
                    assert (hang is None) == (other.hanging.hang is None), (test, name, progress)
                    seen.add((progress, hang is None))
    assert len(seen) > len(PROGRESS)


@pytest.mark.parametrize("made", [waiting_test, telling_test], ids=["waiting", "telling"])
@pytest.mark.parametrize("seed", [4, pytest.param(5, marks=pytest.mark.slow)])
def test_races_are_seen_where_threads_have_come_anywhere(made, seed):
    rng, seen = Random(seed), set()
    for _ in range(10 if seed == 4 else 200):
        test = made(rng)
        for name, model in MODELS.items():
            try:
                found = GrownExecutions(test, model, UNROLL, most=60_000)
            except TooManyError:
                continue
            search = ExecutionSearch(test, model, UNROLL, unfinished=True)
            for flag, literal in search.flags.items():
                raised = search.find([literal]) is not None
                assert raised == (found.flags[flag].mask != 0), (test, name)
                seen.add(raised)
            for location in ("x", "y", "z"):
                reads = search.find([search.reads_initial([location])]) is not None
                assert reads == (found.find([found.reads_initial([location])]) is not None), (test, name)
    assert seen == {True, False}
