"""Litmus tests as data: places, what instructions read and write, predicates as branches."""

from random import Random

import pytest
from litmus_interleavings import TooManyStatesError, verdicts
from litmus_random import ALL, PTX_2015, random_test

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
    operands_of,
    registers_read,
    registers_written,
)
from corpus.litmus.locations import Loc, Location, Reg, Region
from corpus.litmus.orders import Mode, Place, Scope
from corpus.litmus.propositions import (
    And,
    Atom,
    Condition,
    FinalRegister,
    Not,
    Or,
    Quantifier,
    atoms_of,
    conjunction,
    disjunction,
    propositions,
)
from corpus.litmus.test import LitmusTest, located
from corpus.litmus.threads import Thread, branching, unguarded

X, Y = Loc("x"), Loc("y")
A, B = Atom("eq", X, 1), Atom("ne", Y, 0)


def thread(*instructions, registers=()):
    return Thread(tuple(instructions), Place(), registers)


@pytest.mark.parametrize(
    ("other", "narrowest"),
    [
        (Place(0, 0, 0, 0), Scope.WARP),
        (Place(0, 0, 0, 1), Scope.CTA),
        (Place(0, 0, 1, 0), Scope.QUEUE),
        (Place(0, 1, 0, 0), Scope.GPU),
        (Place(1, 0, 0, 0), Scope.SYS),
    ],
)
def test_places_share_the_levels_above_where_they_part(other, narrowest):
    shared = {scope for scope in Scope if Place().shares(other, scope)}
    assert shared == {scope for scope in Scope if scope.value <= narrowest.value}


def test_a_group_is_one_only_within_the_group_around_it():
    assert not Place(0, 0, 1, 0).shares(Place(0, 1, 1, 0), Scope.CTA)


@pytest.mark.parametrize(
    ("instruction", "evaluated", "read", "target"),
    [
        (Load("r0", X), (X,), (), "r0"),
        (Load("r0", Reg("r1"), guard=Guard("p0")), (Reg("r1"),), ("p0", "r1"), "r0"),
        (Store(Reg("r1"), Reg("r2")), (Reg("r1"), Reg("r2")), ("r1", "r2"), None),
        (Rmw("cas", "r0", X, (0, Reg("r1"))), (X, 0, Reg("r1")), ("r1",), "r0"),
        (Rmw("add", None, X, (1,)), (X, 1), (), None),
        (Fence(Mode(), Guard("p0", True)), (), ("p0",), None),
        (Barrier(Reg("r0")), (Reg("r0"),), ("r0",), None),
        (Assign("r0", "add", (Reg("r1"), X)), (Reg("r1"), X), ("r1",), "r0"),
        (Branch("LC0", Comparison("eq", Reg("r0"), 1)), (Reg("r0"), 1), ("r0",), None),
        (Branch("LC0", guard=Guard("p0")), (), ("p0",), None),
        (Label("LC0"), (), (), None),
    ],
)
def test_operands_reads_and_writes(instruction, evaluated, read, target):
    assert operands_of(instruction) == evaluated
    assert registers_read(instruction) == read
    assert registers_written(instruction) == (() if target is None else (target,))


def test_a_thread_knows_every_register_it_mentions():
    body = thread(Load("r0", Reg("r1"), guard=Guard("p0")), Store(X, Reg("r2")), registers=(("r3", 1),))
    assert body.names == {"r0", "r1", "r2", "r3", "p0"}


def test_locations_that_only_the_code_mentions_are_found():
    declared = (Location("z", Loc("w")), Location("y", 1, Region.SHARED))
    body = thread(Load("r0", X), Assign("r1", "mov", (Loc("v"),)), registers=(("r2", Loc("u")),))
    assert located(declared, (body,)) == (*declared, *map(Location, "uvwx"))
    assert located(declared, (thread(Load("r0", Y)),)) == (*declared, Location("w"))


def test_propositions_are_flat_and_their_atoms_in_order():
    assert conjunction([A, And((B, A)), Or((A, B))]) == And((A, B, A, Or((A, B))))
    assert disjunction([Or((A, B)), And((A, B))]) == Or((A, B, And((A, B))))
    assert conjunction([A]) == disjunction([A]) == A
    assert conjunction([]) == And(())
    assert list(atoms_of(Or((A, Not(And((B, A))))))) == [A, B, A]
    assert propositions(Condition(Quantifier.EXISTS, A)) == (A,)
    assert propositions(Condition(Quantifier.EXISTS, A, B)) == (B, A)


def test_predicates_become_branches_with_labels_of_their_own():
    guarded = thread(
        Label("LC0"),
        Store(X, 1, guard=Guard("p0")),
        Load("r0", X, guard=Guard("p0", unless=True)),
        Branch("LC0", guard=Guard("p1")),
        Branch("LC0", Comparison("lt", Reg("r0"), 2), Guard("p1", unless=True)),
    )
    assert unguarded(guarded).instructions == (
        Label("LC0"),
        Branch("LC1", Comparison("eq", Reg("p0"), 0)),
        Store(X, 1),
        Label("LC1"),
        Branch("LC2", Comparison("ne", Reg("p0"), 0)),
        Load("r0", X),
        Label("LC2"),
        Branch("LC0", Comparison("ne", Reg("p1"), 0)),
        Branch("LC3", Comparison("ne", Reg("p1"), 0)),
        Branch("LC0", Comparison("lt", Reg("r0"), 2)),
        Label("LC3"),
    )
    assert unguarded(unguarded(guarded)) == unguarded(guarded)


SETP = Assign("p0", "le", (Reg("r0"), 1))


def test_a_comparison_that_only_branches_ask_moves_into_them():
    body = thread(
        Load("r0", X), SETP, Store(X, 1, guard=Guard("p0")), Branch("LC9", guard=Guard("p0", True)), Label("LC9")
    )
    assert branching(body).instructions == (
        Load("r0", X),
        Branch("LC0", Comparison("gt", Reg("r0"), 1)),
        Store(X, 1),
        Label("LC0"),
        Branch("LC9", Comparison("gt", Reg("r0"), 1)),
        Label("LC9"),
    )


@pytest.mark.parametrize(
    "body",
    [
        (SETP, Load("r0", X), Store(X, 1, guard=Guard("p0"))),  # its operand changes
        (SETP, Store(X, Reg("p0")), Store(X, 1, guard=Guard("p0"))),  # it is data as well
        (SETP, SETP, Store(X, 1, guard=Guard("p0"))),  # it is written twice
        (Store(X, 1, guard=Guard("p0")), SETP),  # it is asked before it is known
        (Branch("L"), SETP, Label("L"), Store(X, 1, guard=Guard("p0"))),  # it may be skipped
        (SETP, Label("L"), Store(X, 1, guard=Guard("p0")), Load("r0", X), Branch("L")),  # it may be old
        (Assign("p0", "eq", (Reg("p0"), 0)), Store(X, 1, guard=Guard("p0"))),  # it changes its own operand
    ],
)
def test_comparisons_that_must_stay(body):
    comparison = next(ins for ins in body if isinstance(ins, Assign))
    assert comparison in branching(thread(*body)).instructions


def test_a_comparison_that_the_condition_asks_for_stays():
    assert SETP in branching(thread(SETP, Store(X, 1, guard=Guard("p0"))), ["p0"]).instructions


@pytest.mark.parametrize("lower", [unguarded, branching])
def test_without_predicates_a_test_does_the_same(lower):
    rng, compared, guarded = Random(11), 0, 0
    while compared < 300:
        test = random_test(rng, rng.choice((ALL, PTX_2015)))
        asked = {
            term.register
            for part in propositions(test.condition)
            for atom in atoms_of(part)
            for term in (atom.left, atom.right)
            if isinstance(term, FinalRegister)
        }
        threads = tuple(lower(one) if lower is unguarded else lower(one, asked) for one in test.threads)
        if threads == test.threads and rng.random() < 0.9:
            continue
        lowered = LitmusTest(test.name, threads, test.locations, test.condition)
        try:
            assert verdicts(lowered) == verdicts(test), test
        except TooManyStatesError:
            continue
        compared += 1
        guarded += threads != test.threads
    assert guarded > 150
