"""The normal form: one for every spelling of a test, another for every other test, and always the same program."""

from dataclasses import replace
from random import Random

import pytest
from litmus_interleavings import TooManyStatesError, verdicts
from litmus_random import ALL, PROFILES, random_test

from corpus.litmus.instructions import (
    Assign,
    Barrier,
    Branch,
    Comparison,
    Fence,
    Guard,
    Label,
    Load,
    Rmw,
    Store,
    registers_written,
)
from corpus.litmus.locations import Loc, Location, Reg, Region
from corpus.litmus.normal import litmus_digest, map_condition, map_operands, normal_form, without_constants
from corpus.litmus.orders import Order, Place, Scope
from corpus.litmus.propositions import And, Atom, Condition, FinalRegister, Not, Or, Quantifier
from corpus.litmus.test import LitmusTest
from corpus.litmus.threads import Thread, unguarded

X, Y = Loc("x"), Loc("y")


def single(*instructions, registers=(), condition=And(())):  # noqa: B008 - a constant
    return LitmusTest(
        "t",
        (Thread(tuple(instructions), Place(), registers),),
        (Location("x"), Location("y")),
        Condition(Quantifier.EXISTS, condition),
    )


def final(register, value=1):
    return Atom("eq", FinalRegister(0, register), value)


def random_tests(count, seed=1):
    rng = Random(seed)
    return [random_test(rng, rng.choice(PROFILES)) for _ in range(count)]


def renamed(test: LitmusTest, rng: Random) -> LitmusTest:
    """The test with other names for registers and labels, and other numbers for groups."""
    names: dict[tuple[int, str], str] = {}

    def name(thread: int, old: str) -> str:
        return names.setdefault((thread, old), f"n{rng.randrange(10**6)}_{len(names)}")

    def changed(thread: int, ins):
        ins = map_operands(
            ins, lambda operand: Reg(name(thread, operand.name)) if isinstance(operand, Reg) else operand
        )
        if isinstance(ins, Label):
            return Label(name(thread, ins.name))
        if isinstance(ins, Branch):
            ins = replace(ins, label=name(thread, ins.label))
        if ins.guard:
            ins = replace(ins, guard=replace(ins.guard, register=name(thread, ins.guard.register)))
        return replace(ins, target=name(thread, ins.target)) if registers_written(ins) else ins

    swapped = rng.sample(range(9), 9)
    threads = tuple(
        Thread(
            tuple(changed(number, ins) for ins in thread.instructions),
            Place(*(swapped[group] for group in thread.place)),
            tuple(sorted((name(number, register), value) for register, value in thread.registers)),
        )
        for number, thread in enumerate(test.threads)
    )
    return LitmusTest(
        "other",
        threads,
        tuple(rng.sample(test.locations, len(test.locations))),
        map_condition(
            test.condition,
            lambda term: (
                replace(term, register=name(term.thread, term.register)) if isinstance(term, FinalRegister) else term
            ),
        ),
        "described otherwise",
    )


def detoured(test: LitmusTest, rng: Random) -> LitmusTest:
    """The test with constants and addresses in registers, which start with them or get them by a ``mov``."""
    return replace(test, threads=tuple(_detoured(thread, rng) for thread in test.threads))


def _detoured(thread: Thread, rng: Random) -> Thread:
    registers, moves = list(thread.registers), []

    def moved(operand):
        if isinstance(operand, Reg) or rng.random() < 0.5:
            return operand
        fresh = f"c{len(registers) + len(moves)}"
        if rng.random() < 0.5 and operand != 0:
            registers.append((fresh, operand))
            return Reg(fresh)
        moves.append(Assign(fresh, "mov", (operand,)))
        if rng.random() < 0.7:
            return Reg(fresh)
        moves.append(Assign(f"{fresh}b", "mov", (Reg(fresh),)))
        return Reg(f"{fresh}b")

    body = [map_operands(ins, moved) for ins in thread.instructions]
    return Thread((*moves, *body), thread.place, tuple(sorted(registers)))


@pytest.mark.parametrize(
    "spelling",
    [
        renamed,
        detoured,
        lambda test, rng: renamed(detoured(test, rng), rng),
        lambda test, rng: replace(test, threads=tuple(map(unguarded, test.threads))),
        lambda test, rng: normal_form(test),
        lambda test, rng: normal_form(normal_form(test)),
        lambda test, rng: without_constants(test),
    ],
    ids=["names", "detours", "both", "branches", "normal", "twice", "constants"],
)
def test_every_spelling_has_the_same_normal_form(spelling):
    rng = Random(2)
    for test in random_tests(500):
        other = spelling(test, rng)
        assert normal_form(replace(other, name="", description="")) == normal_form(replace(test, name="")), test
        assert litmus_digest(other) == litmus_digest(test)


def test_the_normal_form_is_the_same_program():
    compared = 0
    for test in random_tests(400, seed=5):
        try:
            assert verdicts(normal_form(test)) == verdicts(test), test
            compared += 1
        except TooManyStatesError:
            pass
    assert compared > 350


def mutants(test: LitmusTest):
    """Tests that are others: one detail of each instruction, location, place or of the condition is changed."""
    for number, thread in enumerate(test.threads):
        body = thread.instructions

        def with_thread(changed, number=number):
            return replace(test, threads=(*test.threads[:number], changed, *test.threads[number + 1 :]))

        if any(other.place == thread.place for other in test.threads[:number]):
            yield with_thread(replace(thread, place=Place(7, 7, 7, 7)))
        for place, ins in enumerate(body):

            def with_instruction(*changed, thread=thread, body=body, place=place, with_thread=with_thread):
                return with_thread(replace(thread, instructions=(*body[:place], *changed, *body[place + 1 :])))

            if isinstance(ins, Load | Store | Rmw | Fence):
                mode = ins.mode
                yield with_instruction()
                yield with_instruction(ins, replace(ins, guard=None))
                yield with_instruction(replace(ins, mode=replace(mode, volatile=not mode.volatile)))
                yield with_instruction(replace(ins, mode=replace(mode, cache="cs")))
                yield with_instruction(replace(ins, mode=replace(mode, tags=("sc0",))))
                yield with_instruction(replace(ins, mode=replace(mode, scope=Scope.QUEUE)))
                orders = [order for order in Order if order is not mode.order]
                yield from (with_instruction(replace(ins, mode=replace(mode, order=order))) for order in orders)
            if isinstance(ins, Load | Store | Rmw):
                yield with_instruction(replace(ins, address=Loc("z2")))
            if isinstance(ins, Store):
                yield with_instruction(replace(ins, value=77))
            if isinstance(ins, Rmw):
                yield with_instruction(replace(ins, operands=(*ins.operands[:-1], 77)))
            if isinstance(ins, Branch) and ins.condition:
                yield with_instruction(replace(ins, condition=replace(ins.condition, right=77)))
    for changed in (Location("z3"), replace(test.locations[0], name="z4", initial=5)):
        yield replace(test, locations=(*test.locations, changed))
    first = test.locations[0]
    region = Region.GLOBAL if first.region is Region.SHARED else Region.SHARED
    yield replace(test, locations=(replace(first, initial=9), *test.locations[1:]))
    yield replace(test, locations=(replace(first, region=region), *test.locations[1:]))
    condition = test.condition
    yield from (
        replace(test, condition=replace(condition, quantifier=q)) for q in Quantifier if q != condition.quantifier
    )
    yield replace(test, condition=replace(condition, filter=Or(())))
    yield replace(test, condition=replace(condition, proposition=Or((condition.proposition, final("r0", 77)))))
    if len(test.threads) > 1 and test.threads[0].instructions != test.threads[1].instructions:
        swapped = (test.threads[1], test.threads[0], *test.threads[2:])
        places = (thread.place for thread in test.threads)
        yield replace(test, threads=tuple(replace(t, place=p) for t, p in zip(swapped, places, strict=True)))


def test_other_tests_have_other_digests():
    for test in random_tests(60, seed=9):
        digest = litmus_digest(test)
        for mutant in mutants(test):
            assert mutant == test or litmus_digest(mutant) != digest, (test, mutant)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        # a register that nobody writes is 0
        (single(Store(X, Reg("r5"))), single(Store(X, 0))),
        (single(Load("r0", X), registers=(("r5", 3),)), single(Load("r0", X))),
        (single(condition=final("r5", 0)), single(condition=Atom("eq", 0, 0))),
        # a mov that every path takes, before its register is used, though not at the start
        (
            single(Load("r0", X), Label("L"), Assign("r1", "mov", (1,)), Store(Y, Reg("r1"))),
            single(Load("r0", X), Store(Y, 1)),
        ),
        (
            single(
                Branch("L", Comparison("eq", Reg("r0"), 0)),
                Label("L"),
                Assign("r1", "mov", (Y,)),
                Load("r2", Reg("r1")),
            ),
            single(Branch("L", Comparison("eq", Reg("r0"), 0)), Label("L"), Load("r2", Y)),
        ),
        (single(Assign("r0", "mov", (1,)), condition=final("r0")), single(condition=Atom("eq", 1, 1))),
        # labels that nobody names, and two at one place
        (
            single(Branch("A"), Branch("B"), Label("A"), Label("B"), Label("C")),
            single(Branch("A"), Branch("A"), Label("A")),
        ),
        # predicates, conditional jumps, and comparisons before them
        (
            single(Load("r0", X), Assign("p", "eq", (Reg("r0"), 1)), Store(Y, 1, guard=Guard("p"))),
            single(Load("r0", X), Branch("L", Comparison("ne", Reg("r0"), 1)), Store(Y, 1), Label("L")),
        ),
        # negations
        (single(condition=Not(Atom("eq", X, 1))), single(condition=Atom("ne", X, 1))),
        (single(condition=Not(Not(Atom("lt", X, 1)))), single(condition=Atom("lt", X, 1))),
        # nested conjunctions
        (
            single(condition=And((Atom("eq", X, 1), And((Atom("eq", Y, 1), And(())))))),
            single(condition=And((Atom("eq", X, 1), Atom("eq", Y, 1)))),
        ),
        # a barrier's number where a resource makes it meet others
        (single(Barrier(0, resource=2, quorum=Reg("r1"))), single(Barrier(2, quorum=0))),
    ],
)
def test_two_spellings(one, other):
    assert normal_form(one) == normal_form(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        # a mov that a jump avoids, that comes late, or again
        (
            single(
                Branch("L", Comparison("eq", Reg("r9"), 0)), Assign("r1", "mov", (1,)), Label("L"), Store(X, Reg("r1"))
            ),
            single(Branch("L", Comparison("eq", Reg("r9"), 0)), Label("L"), Store(X, 1)),
        ),
        (single(Store(X, Reg("r1")), Assign("r1", "mov", (1,))), single(Store(X, 1))),
        (
            single(Assign("r1", "mov", (1,)), Store(X, Reg("r1")), Assign("r1", "mov", (2,)), Store(X, Reg("r1"))),
            single(Store(X, 1), Store(X, 1)),
        ),
        # an initial value that is overwritten later
        (
            single(Store(X, Reg("r1")), Load("r1", X), registers=(("r1", 1),)),
            single(Store(X, 0), Load("r1", X)),
        ),
        # an address that the condition asks for
        (
            single(Assign("r1", "mov", (X,)), condition=final("r1", 0)),
            single(condition=Atom("eq", 0, 0)),
        ),
        (single(Barrier(0)), single(Barrier(1))),
        (single(Barrier(0)), single(Barrier(0, arrive=True))),
        (single(Barrier(0)), single(Barrier(0, quorum=1))),
        (single(Barrier(0)), single(Barrier(0, resource=1))),
        (single(Barrier(0)), single(Barrier(0, scope=Scope.WARP))),
    ],
)
def test_two_tests(one, other):
    assert normal_form(one) != normal_form(other)


def test_registers_of_the_condition_alone_are_named_by_it_and_not_by_their_names():
    asked = And((final("b", 1), final("a", 2)))
    test = single(registers=(("a", X), ("b", Y)), condition=asked)
    assert litmus_digest(renamed(test, Random(1))) == litmus_digest(test)
    swapped = single(registers=(("a", Y), ("b", X)), condition=And((final("a", 1), final("b", 2))))
    assert litmus_digest(swapped) == litmus_digest(test)


def test_random_tests_are_of_a_seed():
    assert [random_test(Random(seed), ALL) for seed in range(50)] == [
        random_test(Random(seed), ALL) for seed in range(50)
    ]
    assert len({litmus_digest(test) for test in random_tests(500)}) > 480
