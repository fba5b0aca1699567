"""Interleavings of programs that synchronise are all executions that are grown event by event."""

from contextlib import suppress
from dataclasses import replace
from random import Random

import pytest

from constraints.witnesses import ExecutionSearch
from corpus.litmus.instructions import Barrier, Branch, Comparison, Fence, Label, Load, Rmw, Store
from corpus.litmus.locations import Loc, Location, Reg
from corpus.litmus.orders import Mode, Order, Place, Scope
from corpus.litmus.propositions import And, Atom, Condition, FinalRegister, Or, Quantifier
from corpus.litmus.test import LitmusTest
from corpus.litmus.threads import Thread
from oracle.cat.syntax import shipped_models
from oracle.consistency import load_model
from oracle.executions.events import EventKind
from oracle.executions.grown import GrownExecutions
from oracle.executions.interleaved import InterleavedExecutions
from oracle.executions.stateless import GROWN_MODELS
from oracle.executions.steps import TooManyError
from oracle.liveness import resolve_liveness_models
from synth.checking.questions import PROGRESS
from synth.memory.liveness import explain_liveness
from tests.differential.test_stateless import telling_test, waiting_test
from tests.random_spins import random_spins

MODELS = {name: load_model(shipped_models()[name], name) for name in GROWN_MODELS}
PLAIN = Mode(Order.WEAK)
LOCATIONS = ("x", "y", "lock", "flag")


def atomic(order):
    return Mode(order, Scope.SYS)


def synchronised_test(rng):
    """A test whose threads take a lock, pass a flag on, count, and access x and y between; not always right."""
    threads, asked, labels = [], [], iter(range(100))
    orders = [Order.ACQUIRE, Order.RELEASE, Order.ACQ_REL, Order.SC]
    careless, sequential = rng.random() < 0.3, rng.random() < 0.3

    def mode(order):
        if sequential:
            return atomic(Order.SC)
        return atomic(rng.choice([Order.RELAXED, order, Order.SC]) if careless else order)

    def access(number, register):
        location = Loc(rng.choice("xy"))
        plain = PLAIN if rng.random() < 0.8 else mode(Order.RELAXED)
        asked.append(FinalRegister(number, register))
        return rng.choice([Load(register, location, plain), Store(location, rng.choice([1, 2]), plain)])

    def until(location, register, condition, access_):
        label = f"L{next(labels)}"
        return [Label(label), access_, Branch(label, Comparison(*condition))]

    for number in range(rng.choice([2, 3, 3])):
        code = []
        for step in range(rng.choice([1, 1, 2])):
            register = f"r{step}"
            kind = rng.choice(["lock", "lock", "raise", "await", "count", "plain", "fence", "sc", "try"])
            if kind == "lock":
                swap = rng.random() < 0.7
                taken = Rmw("cas", "h", Loc("lock"), (0, number + 1), mode(Order.ACQUIRE))
                taken = taken if swap else Rmw("exch", "h", Loc("lock"), (1,), mode(Order.ACQUIRE))
                inside = [access(number, f"{register}_{n}") for n in range(rng.choice([1, 1, 2]))]
                code += until("lock", "h", ("ne", Reg("h"), 0), taken) + inside
                back = Store(Loc("lock"), 0, mode(Order.RELEASE))
                code.append(back if rng.random() < 0.3 else Rmw("exch", None, Loc("lock"), (0,), mode(Order.RELEASE)))
            elif kind == "raise":
                code += [access(number, register)] if rng.random() < 0.6 else []
                code.append(Store(Loc("flag"), rng.choice([1, 1, 2]), mode(Order.RELEASE)))
            elif kind == "await":
                code += until("flag", "f", ("eq", Reg("f"), 0), Load("f", Loc("flag"), mode(Order.ACQUIRE)))
                code += [access(number, register)] if rng.random() < 0.6 else []
            elif kind == "count":
                asked.append(FinalRegister(number, register))
                location = Loc(rng.choice(["flag", "y"]))
                code.append(Rmw("add", register, location, (1,), mode(rng.choice(orders))))
            elif kind == "fence":
                code.append(Fence(atomic(rng.choice(orders))))
            elif kind == "sc":
                asked.append(FinalRegister(number, register))
                first, second = rng.sample(["x", "y", "flag"], 2)
                code += [Store(Loc(first), 1, mode(Order.SC)), Load(register, Loc(second), mode(Order.SC))]
            elif kind == "try":
                asked.append(FinalRegister(number, register))
                weak = "s" if rng.random() < 0.5 else None
                code.append(Rmw("cas", register, Loc("lock"), (0, 1), mode(Order.ACQUIRE), success=weak))
            else:
                code.append(access(number, register))
        threads.append(Thread(tuple(code), Place(cta=number)))
    observed = (*dict.fromkeys(asked), *map(Loc, LOCATIONS)) if rng.random() < 0.7 else ()
    condition = Condition(Quantifier.EXISTS, And(()), observed=observed)
    return LitmusTest("synchronised", tuple(threads), tuple(map(Location, LOCATIONS)), condition)


def created_test(rng):
    """A test whose first thread creates the others at some place each, and may join them, as programs of C do: by a
    barrier, and by a flag that orders what is before and behind; which now and then it does not.
    """
    test = synchronised_test(rng)
    first, *others = (list(thread.instructions) for thread in test.threads)
    release, acquire = (atomic(order) for order in (Order.RELEASE, Order.ACQUIRE))
    if rng.random() < 0.2:
        release = acquire = atomic(Order.RELAXED)
    places = sorted(rng.randrange(len(first) + 1) for _ in others)
    for number, place in reversed([*enumerate(places, 1)]):
        wait = [Label(f"M{number}"), Load("m", Loc(f"made{number}"), acquire)]
        wait.append(Branch(f"M{number}", Comparison("eq", Reg("m"), 0)))
        others[number - 1][:0] = [Barrier(2 * number, quorum=2, scope=Scope.SYS), *wait]
        made = Barrier(2 * number, arrive=True, quorum=2, scope=Scope.SYS)
        first[place:place] = [Store(Loc(f"made{number}"), 1, release), made]
    for number, code in enumerate(others, 1):
        if rng.random() < 0.6:
            ended = Barrier(2 * number + 1, arrive=True, quorum=2, scope=Scope.SYS)
            code += [Store(Loc(f"ended{number}"), 1, release), ended]
            first += [Barrier(2 * number + 1, quorum=2, scope=Scope.SYS)]
            first += [Label(f"J{number}"), Load("j", Loc(f"ended{number}"), acquire)]
            first.append(Branch(f"J{number}", Comparison("eq", Reg("j"), 0)))
    threads = (replace(one, instructions=tuple(code)) for one, code in zip(test.threads, [first, *others], strict=True))
    names = [f"{word}{number}" for number in range(1, len(others) + 1) for word in ("made", "ended")]
    return replace(test, threads=tuple(threads), locations=(*test.locations, *map(Location, names)))


def told(search, test, promises):
    """The answers to the questions that are not of who has written what is read, as they can be compared."""
    found = {"ended": search.find([search.ended]) is not None, "never": search.never_ends()}
    for name, flag in search.flags.items():
        found[name] = search.find([flag]) is not None
    for term in test.condition.observed:
        for value in range(4):
            equal = search.satisfied(Atom("eq", term, value))
            found[term, value] = search.find([search.ended, equal]) is not None
            found[term, value, "not"] = search.find([search.ended, ~equal]) is not None
    pairs = zip(test.condition.observed, test.condition.observed[1:], strict=False)
    for one, other in pairs:
        for value in range(3):
            both = search.satisfied(Or((And((Atom("eq", one, value), Atom("ne", other, value))),)))
            found[one, other, value] = search.find([search.all_ended, both]) is not None
    names = [location.name for location in test.locations]
    for name in names:
        found["accesses", name] = search.find([search.accesses([name])]) is not None
    for name, promise in promises.items():
        with suppress(TooManyError):
            found["hang", name] = search.hang(name, promise) is not None
    return found


def told_of_writers(search, test):
    """The answers to the questions of who has written what is read; of no updates, which may be of idle rounds."""
    found = {}
    for location in test.locations:
        found["initial", location.name] = search.find([search.reads_initial([location.name])]) is not None
    for thread in range(len(test.threads)):

        def meant(event, thread=thread):
            return event.thread == thread and event.kind is EventKind.WRITE and event.rmw is None

        found["from", thread] = search.find([search.reads_from(meant)]) is not None
        found["after", thread] = search.find([search.after(meant, lambda event: event.location == "x")]) is not None
    return found


@pytest.mark.parametrize(
    "made",
    [created_test, synchronised_test, waiting_test, telling_test, random_spins],
    ids=["created", "synchronised", "waiting", "telling", "spins"],
)
@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 8))])
def test_interleavings_tell_all_executions(made, seed):
    rng, seen = Random(seed), dict.fromkeys(MODELS, 0)
    for number in range(40 if seed == 1 else 400):
        test = made(rng)
        for name, model in MODELS.items():
            try:
                interleaved = InterleavedExecutions(test, model)
                coarse = InterleavedExecutions(test, model, apart=())
                grown = GrownExecutions(test, model, 2, most=60_000)
            except TooManyError:
                continue
            if grown.cut:
                continue
            promises = {}
            for progress in PROGRESS:
                (liveness,) = resolve_liveness_models([f"{progress} & {name}"])
                promises[progress] = liveness.progress_of(test).promise
            one = [told(interleaved, test, promises), told_of_writers(interleaved, test), told(coarse, test, promises)]
            other = [told(grown, test, promises), told_of_writers(grown, test), told(grown, test, promises)]
            raced = name == "rc11" and other[0]["data-race"]  # which leaves all else undefined
            differing = [
                (key, found[key], wanted[key])
                for found, wanted in zip(one, other, strict=True)
                for key in found.keys() & wanted.keys()
                if found[key] != wanted[key] and (not raced or key == "data-race")
            ]
            assert not differing, (number, name)
            seen[name] += 1
    assert seen["rc11"] > number // 100  # of tests that tell hardly any synchronises


def looping_test(rng):
    """A test of two threads that go round with a lock until somebody has raised a flag, or that raise it."""
    threads, asked = [], []
    acquires, releases = (atomic(rng.choice([o, o, Order.SC])) for o in (Order.ACQUIRE, Order.RELEASE))
    for number in range(rng.choice([2, 2, 3])):
        lock = [
            Label("A"),
            Rmw("cas", "h", Loc("lock"), (0, number + 1), acquires),
            Branch("A", Comparison("ne", Reg("h"), 0)),
        ]
        back = [Rmw("exch", None, Loc("lock"), (0,), releases)]
        kind = rng.choice(["poll", "poll", "raise", "raise", "toggle", "try", "wait"])
        turn = rng.choice([1, 2])
        again = [Branch("L", Comparison(rng.choice(["eq", "ne"]), Reg("r"), rng.choice([0, turn])))]
        asked.append(FinalRegister(number, "r"))
        match kind:
            case "poll":
                code = [Label("L"), *lock, Load("r", Loc("x"), PLAIN), *back, *again]
            case "raise":
                code = [*lock, Store(Loc("x"), turn, PLAIN), *back]
            case "toggle":
                code = [Label("L"), *lock, Load("r", Loc("x"), PLAIN), Store(Loc("x"), turn, PLAIN), *back, *again]
            case "try":
                once = Rmw("cas", "r", Loc("lock"), (0, number + 1), acquires)
                code = [Label("L"), once, Branch("L", Comparison("ne", Reg("r"), 0)), Load("r", Loc("x"), PLAIN), *back]
                code += again if rng.random() < 0.5 else []
            case _:
                code = [Label("L"), Load("r", Loc("flag"), acquires), Branch("L", Comparison("eq", Reg("r"), 0))]
                code += [Store(Loc("x"), turn, PLAIN)] if rng.random() < 0.5 else []
        if rng.random() < 0.3:
            code.append(Store(Loc("flag"), 1, releases))
        threads.append(Thread(tuple(code), Place(cta=number)))
    condition = Condition(Quantifier.EXISTS, And(()), observed=(*asked, Loc("x")))
    return LitmusTest("looping", tuple(threads), tuple(map(Location, LOCATIONS)), condition)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 6))
def test_threads_that_go_round_are_told_as_a_solver_tells_them(seed):
    rng, seen, cyclic = Random(seed), set(), 0
    for number in range(25 if seed == 1 else 250):
        test = looping_test(rng)
        for name, model in MODELS.items():
            try:
                interleaved = InterleavedExecutions(test, model)
            except TooManyError:
                continue
            cyclic += bool(interleaved._ways.cycles)
            search = ExecutionSearch(test, model, 2)
            raced = search.find([*search.flags.values()]) is not None if search.flags else False
            unfinished = ExecutionSearch(test, model, 2, unfinished=True)
            for flag, literal in unfinished.flags.items():
                if unfinished.find([literal]) is not None:
                    assert interleaved.find([interleaved.flags[flag]]) is not None, (number, name)
            if raced:
                continue
            for term in test.condition.observed:
                for value in range(3):
                    one = Atom("eq", term, value)
                    found = interleaved.find([interleaved.ended, interleaved.satisfied(one)])
                    if search.find([search.ended, search.satisfied(one)]) is not None:
                        assert found is not None, (number, name, term, value)
                    elif not search.cut:
                        assert found is None, (number, name, term, value)
                    assert found is None or model.allows(found.base), (number, name)
            for progress in ("unfair", "fair"):
                (liveness,) = resolve_liveness_models([f"{progress} & {name}"])
                theirs = explain_liveness(test, liveness, 2)
                try:
                    hang = interleaved.hang(progress, liveness.progress_of(test).promise)
                except TooManyError:
                    continue
                assert hang is None or model.allows(hang.execution.base), (number, name)
                if theirs.hanging.hang is not None:
                    assert hang is not None, (number, name, progress)
                elif not theirs.hanging.provisional:
                    assert hang is None, (number, name, progress)
                seen.add((progress, hang is None))
    assert {("unfair", False), ("fair", False), ("fair", True)} <= seen
    assert cyclic > 5
