"""The operational models of Sorensen 2013: rules, registers, loops, refusals, and runs in words."""

from dataclasses import replace

import pytest
from litmus_code import CTA, GL, litmus_test, program, where
from litmus_small import operational_outcomes, small_tests

from corpus.errors import InputError
from corpus.litmus.instructions import Assign, Barrier, Branch, Comparison, Fence, Guard, Label, Load, Rmw, Store
from corpus.litmus.locations import Loc, Location, Reg, Region
from corpus.litmus.orders import Mode, Order, Place, Scope
from corpus.litmus.propositions import And, FinalRegister, Not
from oracle.consistency import OPERATIONAL as MODELS
from oracle.executions.values import Address
from oracle.exploration import StateLimitError
from oracle.operational.explore import UnmodelledError, explore, satisfies, witness
from oracle.operational.memory import FORGOTTEN, Copy, CopyStatus, LocationAutomaton

SHARED, BORROWED, IN_BLOCK, UNSHARED = CopyStatus
X, Y = Loc("x"), Loc("y")
SPIN = [Label("L"), Load("r1", X), Branch("L", Comparison("eq", Reg("r1"), 0))]


def outcomes(test, **options):
    """The final states under the weak model and under the strong one."""
    return tuple(explore(test, strong, **options).finals for strong in (False, True))


# The rules of a location


def copies(automaton, state):
    return [(copy.value, copy.status) for copy in automaton.copies(state)]


def test_a_store_is_to_be_shared_with_whom_there_is():
    in_one_block, apart, both = (LocationAutomaton(blocks, 0, True) for blocks in [(0, 0), (0, 1), (0, 0, 1)])
    assert copies(in_one_block, in_one_block.store(0, 0, 5)) == [(5, UNSHARED), (0, SHARED)]
    assert copies(apart, apart.store(0, 0, 5)) == [(5, IN_BLOCK), (0, SHARED)]
    assert copies(both, both.store(0, 0, 5)) == [(5, UNSHARED), (0, SHARED), (0, SHARED)]
    alone = LocationAutomaton((0,), 0, True)
    assert copies(alone, alone.store(0, 0, 5)) == [(5, SHARED)]


def test_sharing_overwrites_what_others_have_not_shared():
    where_x = LocationAutomaton((0, 0, 1), 0, True)
    state = where_x.store(where_x.store(where_x.start, 0, 5), 2, 6)
    assert where_x.pending(state) == (0, 2)
    assert copies(where_x, where_x.share(state, 0)) == [(5, SHARED)] * 3
    merged = where_x.merge(state, 0)
    assert copies(where_x, merged) == [(5, IN_BLOCK), (5, SHARED), (6, IN_BLOCK)]
    assert copies(where_x, where_x.share(merged, 0)) == [(5, SHARED)] * 3
    stored = where_x.store(merged, 1, 7)  # what is shared in the block is not shared there again
    assert copies(where_x, where_x.share(stored, 0)) == [(5, SHARED), (7, UNSHARED), (5, SHARED)]


def test_a_value_is_borrowed_from_who_has_not_shared_it_and_once():
    where_x = LocationAutomaton((0, 0, 1), 0, True)
    state = where_x.merge(where_x.store(where_x.start, 0, 5), 0)
    assert [way.value for way in where_x.load(state, 1)] == [5]  # merged into its copy, nothing to borrow
    own, borrowed = where_x.load(state, 2)
    assert (own.value, own.source, own.after) == (0, 2, state)
    assert (borrowed.value, borrowed.source) == (5, 0)
    assert copies(where_x, borrowed.after) == [(5, IN_BLOCK), (5, SHARED), (5, BORROWED)]
    stored = where_x.store(borrowed.after, 0, 6)
    assert [way.value for way in where_x.load(stored, 2)] == [5]
    assert [way.value for way in LocationAutomaton((0, 1), 0, False).load(0, 1)] == [0]


def test_what_nobody_will_look_at_is_forgotten():
    where_x = LocationAutomaton((0, 1, 2), 0, True)
    state = where_x.load(where_x.store(where_x.start, 0, 5), 1)[1].after
    assert where_x.copies(where_x.forget(state, 0b010)) == (Copy(5, IN_BLOCK), Copy(5, BORROWED), FORGOTTEN)
    assert where_x.copies(where_x.forget(state, 0b100)) == (Copy(5, IN_BLOCK), FORGOTTEN, Copy(0, SHARED))
    assert where_x.copies(where_x.forget(state, 0)) == (FORGOTTEN,) * 3


# Registers, dependencies, control


def test_an_instruction_waits_for_the_registers_that_it_reads():
    #   load buffering with a data dependency on one side and a branch on the other: no value out of thin air
    left = [Load("r1", X), Store(Y, Reg("r1"))]
    right = [Load("r1", Y), Branch("L", Comparison("eq", Reg("r1"), 0)), Store(X, 1), Label("L")]
    assert outcomes(litmus_test([left, right], (0, 1))) == ({(0, 0)}, {(0, 0)})
    independent = [Load("r1", Y), Store(X, 1)]
    assert outcomes(litmus_test([left, independent], (0, 1)))[1] == {(0, 0), (1, 0), (1, 1)}


def test_an_address_dependency_keeps_loads_in_order():
    #   r2 := r1 xor r1; r3 := &x + r2
    compute = [Assign("r2", "xor", (Reg("r1"), Reg("r1"))), Assign("r3", "add", (X, Reg("r2")))]
    writer = [Store(X, 1), GL, Store(Y, 1)]
    plain = litmus_test([writer, [Load("r1", Y), Load("r4", X)]], (0, 1))
    reader = [Load("r1", Y), *compute, Load("r4", X)]
    chained = replace(plain.threads[1], instructions=(*reader[:-1], Load("r4", Reg("r3"))))
    dependent = replace(plain, threads=(plain.threads[0], chained))
    assert all((1, 0) in finals for finals in outcomes(plain))
    assert all((1, 0) not in finals and (1, 1) in finals for finals in outcomes(dependent))


def test_a_register_keeps_what_is_written_last():
    test = program("st x 1 | st y 2 | ld r1 x; ld r1 y", (0, 1, 2))
    assert outcomes(test) == ({(0,), (2,)}, {(0,), (2,)})
    overwritten = litmus_test([[Load("r1", X), Assign("r1", "mov", (7,))]], (0,))
    assert outcomes(overwritten) == ({(7,)}, {(7,)})


def test_a_predicate_is_a_branch():
    body = [Load("r1", X), Load("r2", Y, guard=Guard("r1")), Store(Y, 5, guard=Guard("r1", unless=True))]
    test = litmus_test([[Store(X, 1)], body], (0, 0), observed=("y",))
    assert outcomes(test) == ({(0, 0, 5), (1, 0, 0)},) * 2


def test_addresses_in_registers_and_in_memory():
    test = litmus_test([[Load("r1", X), Store(Reg("r1"), 3), Load("r2", Y)]], (0,), observed=("y",))
    test = replace(test, locations=(Location("x", Y), Location("y")))
    assert outcomes(test) == ({(Address("y"), 3, 3)},) * 2
    start = replace(test.threads[0], instructions=(Store(Reg("r1"), 4), Load("r2", Y)), registers=(("r1", Y),))
    assert outcomes(replace(test, threads=(start,))) == ({(Address("y"), 4, 4)},) * 2


def test_a_pointer_from_memory_is_followed_wherever_it_leads():
    test = litmus_test([[Load("r1", X), Load("r2", Reg("r1"))], [Store(Y, 1)]], (0, 1))
    test = replace(test, locations=(Location("x", Y), Location("y")))
    assert outcomes(test) == ({(Address("y"), 0), (Address("y"), 1)},) * 2


@pytest.mark.parametrize("address", [Reg("r9"), 7], ids=["a register that is 0", "a number"])
def test_an_access_to_no_location_has_no_end(address):
    assert outcomes(litmus_test([[Load("r1", X)]], (0,)))[0] == {(0,)}
    test = litmus_test([[Load("r1", X)]], (0,))
    thread = replace(test.threads[0], instructions=(*test.threads[0].instructions, Store(address, 1)))
    assert outcomes(replace(test, threads=(thread,))) == (frozenset(), frozenset())


@pytest.mark.parametrize("strong", [False, True])
@pytest.mark.parametrize("unroll", [0, 1, 3])
def test_a_loop_is_bounded_and_the_outcome_says_so(strong, unroll):
    count = [*SPIN[:2], Assign("r2", "add", (Reg("r2"), 1)), SPIN[2]]
    test = litmus_test([count, [Store(X, 1)]], (0, 0))
    test = replace(test, condition=replace(test.condition, observed=(FinalRegister(0, "r2"),)))
    found = explore(test, strong, unroll)
    assert found.bounded and found.finals == {(rounds,) for rounds in range(1, unroll + 2)}


@pytest.mark.parametrize("strong", [False, True])
def test_an_endless_loop_gives_nothing_and_says_so(strong):
    found = explore(litmus_test([[Label("L"), Store(X, 1), Branch("L")]], (0,)), strong)
    assert found.bounded and not found.finals
    forward = explore(litmus_test([[Branch("L"), Store(X, 1), Label("L")]], (0,), observed=("x",)), strong)
    assert not forward.bounded and forward.finals == {(0,)}


# Memory


def test_final_memory_is_what_is_shared_in_the_end():
    assert outcomes(program("st x 1 | st x 2", (0, 1), observed="x")) == ({(1,), (2,)},) * 2
    assert outcomes(program("st x 1; st x 2", observed="x")) == ({(2,)},) * 2
    untouched = replace(program("", observed="x"), locations=(Location("x", 9),))
    assert outcomes(untouched) == ({(9,)},) * 2
    assert outcomes(program("st x 1 | st x 2", (0, 0), shared="x", observed="x")) == ({(1,), (2,)},) * 2


def test_a_value_that_was_read_may_be_shared_after_what_overwrote_it():
    """By the listing the weak model shares one store after another in any order, also where one has read the other."""
    test = program("st x 1 | ld r1 x; st x 2", (0, 1), observed="x")
    weak, strong = outcomes(test)
    assert (1, 1) in weak and (1, 1) not in strong


def test_shared_memory_is_the_blocks_own_and_needs_no_membar_gl():
    text = "st x 1; cta; st y 1 | ld r1 y; cta; ld r2 x | ld r3 z"
    for blocks in [(0, 0, 1), (0, 0, 0)]:
        test = program(text, blocks, shared="x y")
        assert all((1, 0, 0) not in finals and (1, 1, 0) in finals for finals in outcomes(test))


def test_terms_are_those_of_condition_filter_and_observation():
    test = program("st x 1 | ld r2 x; ld r1 x", observed="x")
    condition = replace(test.condition, proposition=where(P1_r2=1), filter=Not(where(x=0)), observed=())
    found = explore(replace(test, condition=condition), True)
    assert found.terms == (FinalRegister(1, "r2"), Loc("x"))
    assert found.finals == {(0, 1), (1, 1)}
    assert [satisfies(found.terms, final, condition.proposition) for final in sorted(found.finals)] == [False, True]
    nothing = replace(test, condition=replace(condition, proposition=And(()), filter=None))
    assert explore(nothing, False).finals == {()}


# What is refused


@pytest.mark.parametrize(
    ("instruction", "told"),
    [
        (Rmw("exch", "r1", X, (1,), Mode(Order.RELAXED, Scope.GPU)), "P0: atom.relaxed.gpu.exch r1, x, 1: "),
        (Barrier(0), "P0: bar.sync 0: "),
        (Fence(Mode(Order.ACQ_REL, Scope.GPU)), "P0: fence.acq_rel.gpu: "),
        (Fence(Mode(Order.SC, Scope.WARP)), "P0: fence.sc.warp: "),
        (Load("r1", X, Mode(Order.ACQUIRE, Scope.CTA)), "P0: ld.acquire.cta r1, x: "),
        (Store(X, 1, Mode(Order.RELAXED, Scope.SYS)), "P0: st.relaxed.sys x, 1: "),
        (Load("r1", X, Mode(tags=("texture",))), "P0: ld.texture r1, x: "),
    ],
)
@pytest.mark.parametrize("model", sorted(MODELS))
def test_what_the_models_do_not_know_is_refused_by_name(instruction, told, model):
    test = litmus_test([[Load("r0", X)]], (0,))
    test = replace(test, threads=(replace(test.threads[0], instructions=(instruction,)),))
    with pytest.raises(UnmodelledError) as caught:
        explore(test, MODELS[model])
    assert str(caught.value) == told + "Sorensen 2013 models plain loads and stores, membar.cta and membar.gl"
    assert isinstance(caught.value, InputError)


def test_cache_operators_volatile_and_membar_sys_are_known():
    body = [Load("r1", X, Mode(cache="cg")), Fence(Mode(Order.SC, Scope.SYS)), Store(X, 1, Mode(volatile=True))]
    assert outcomes(litmus_test([body], (0,))) == ({(0,)},) * 2


def test_threads_of_two_devices_are_refused():
    test = program("st x 1 | ld r1 x")
    test = replace(test, threads=(test.threads[0], replace(test.threads[1], place=Place(gpu=1))))
    with pytest.raises(UnmodelledError, match="one device"):
        explore(test, False)


def test_too_many_states_are_an_error_and_no_verdict():
    test = program("st x 1 | ld r1 x; ld r2 x | ld r3 x", (0, 1, 2))
    for function in (explore, lambda *args, **named: witness(args[0], args[1], where(P1_r1=7), **named)):
        with pytest.raises(StateLimitError, match="more than 3 states"):
            function(test, False, limit=3)


# Runs in words


def test_a_run_of_the_weak_model():
    test = program("st x 1 | ld r1 x; gl; st y 1 | ld r1 y; gl; ld r2 x", (0, 0, 1))
    run = witness(test, False, where(P1_r1=1, P2_r1=1, P2_r2=0))
    assert run == (
        "P0 stores x = 1",
        "P1 loads x = 1 into r1 from the memory of P0",
        "P1 does membar.gl",
        "P1 stores y = 1",
        "P2 loads y = 1 into r1 from the memory of P1",
        "P2 does membar.gl",
        "P2 loads x = 0 into r2 from its own memory",
    )
    assert witness(test, True, where(P1_r1=1, P2_r1=1, P2_r2=0)) is None


def test_a_run_with_fences_that_share():
    test = program("st x 1; cta; st y 1 | ld r1 y; cta; ld r2 x | ld r1 y; gl; ld r2 x", (0, 0, 1))
    outcome = {"P1_r1": 1, "P1_r2": 1, "P2_r1": 1, "P2_r2": 0}
    run = witness(test, False, where(**outcome))
    assert run[:3] == ("P0 stores x = 1", "P0 does membar.cta and passes x = 1 to its block", "P0 stores y = 1")
    run = witness(test, False, where(**outcome | {"P2_r2": 1}))
    assert "P0 shares x = 1 with all threads" in run or "P2 loads x = 1 into r2 from the memory of P0" in run
    test = program("st x 1; cta; gl; st y 1 | ld r1 y; gl; ld r2 x", (0, 0))
    apart = replace(test, threads=(*test.threads, replace(test.threads[1], place=Place(cta=1))))
    run = witness(apart, True, where(P1_r1=1))
    assert run.index("the block of P0 and P1 shares x = 1 with the other blocks") < run.index("P0 does membar.gl")


def test_a_run_of_the_strong_model():
    test = program("st x 1 | ld r1 x | ld r1 x; st x 2", (0, 0, 1), observed="x")
    run = witness(test, True, where(P1_r1=1, P2_r1=1, x=2))
    assert run[0] == "P0 stores x = 1"
    assert "P1 loads x = 1 into r1 from the memory of the block of P0 and P1" in run
    assert "the block of P0 and P1 shares x = 1 with the other blocks" in run
    assert run[-1] == "the block of P2 shares x = 2 with the other blocks"


def test_a_run_whose_last_stores_do_not_matter():
    test = program("ld r1 x; st y 1 | ld r2 y; st x 1", (0, 1))
    run = witness(test, False, where(P0_r1=0, P1_r2=0))
    assert run[-1] in ("P0 stores y = 1", "P1 stores x = 1", "the queues drain")
    assert witness(program("st x 1"), False, And(())) == ("P0 stores x = 1",)


# The list of all small tests


def test_small_tests_are_all_there_once():
    pairs = ["ld x | ld x", "ld x | ld y", "ld x | st x", "ld x | st y", "st x | st x", "st x | st y"]
    names = [test.name for test in small_tests(2, 1)]
    assert names == [f"{pair} @ {blocks}" for pair in pairs for blocks in ("00", "01")]
    assert len(list(small_tests(2, 2))) == 220
    names = [test.name for test in small_tests(2, 3)]
    assert len(names) == len(set(names)) == 6844
    assert "st x, fence.sc.gpu, st y | ld y, fence.sc.cta, ld x @ 01" in names or (
        "ld x, fence.sc.cta, ld y | st y, fence.sc.gpu, st x @ 01" in names
    )


def test_small_tests_by_count_of_orbits():
    """Burnside: tests of two threads and two locations, as orbits of programs under exchange of threads and names."""
    bodies = [body for length in (1, 2) for body in _bodies(length)]
    programs = {(left, right) for left in bodies for right in bodies}
    orbits = {frozenset(_orbit(program)) for program in programs}
    assert len(list(small_tests(2, 2))) == 2 * len(orbits)


def _bodies(length):
    letters = ["lx", "ly", "sx", "sy"]
    return [(one,) for one in letters] if length == 1 else [(one, two) for one in letters for two in letters]


def _orbit(pair):
    swap = {"x": "y", "y": "x"}
    renamed = tuple(tuple(kind + swap[name] for kind, name in body) for body in pair)
    return {pair, pair[::-1], renamed, renamed[::-1]}


def test_outcomes_of_a_small_test_are_in_the_order_of_its_observation():
    (test,) = (test for test in small_tests(2, 1, memory=True) if test.name == "ld x | st x @ 01")
    assert operational_outcomes(test, True) == {(0, 1), (1, 1)}


def test_membars_by_their_names():
    assert (CTA.mode.scope, GL.mode.scope) == (Scope.CTA, Scope.GPU)
    assert program("st x 1", shared="x").locations == (Location("x", region=Region.SHARED),)
