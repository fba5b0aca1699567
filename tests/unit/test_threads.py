"""The ways through a thread: paths, what must hold for each, and what depends on what."""

from dataclasses import replace

import pytest

from corpus.errors import InputError
from corpus.litmus.instructions import Assign, Barrier, Branch, Comparison, Fence, Guard, Label, Load, Rmw, Store
from corpus.litmus.locations import Alias, Loc, Location, Reg, Region
from corpus.litmus.orders import Mode, Order, Place, Scope
from corpus.litmus.propositions import Atom, Condition, FinalRegister, Quantifier, conjunction
from corpus.litmus.test import LitmusTest
from corpus.litmus.threads import Thread
from oracle.executions import threads as module
from oracle.executions.events import Apply, Arrival, EventKind, Read, together
from oracle.executions.threads import unroll_threads
from oracle.executions.values import Address

LOCATIONS = (Location("x"), Location("y"), Location("z"), Location("s", 1, Region.SHARED))
R1, R2 = Reg("r1"), Reg("r2")


def one_thread(*instructions, locations=LOCATIONS, registers=()):
    thread = Thread(tuple(instructions), Place(), registers)
    return LitmusTest("t", (thread,), locations, Condition(Quantifier.EXISTS, conjunction(())))


def asks(register):
    return Condition(Quantifier.EXISTS, Atom("eq", FinalRegister(0, register), 0))


def paths(*instructions, unroll=2, **options):
    (thread,) = unroll_threads(one_thread(*instructions, **options), unroll)
    return thread.paths


def kinds(path):
    return "".join(event.kind.value for event in path.events)


def places(keys):
    """Where in the thread events are, by their keys."""
    return {key[1] for key in keys}


def test_a_straight_thread_has_one_path():
    (path,) = paths(Load("r1", Loc("x")), Store(Loc("y"), R1), Store(Loc("z"), 7), Fence(Mode(Order.SC, Scope.GPU)))
    assert kinds(path) == "RWWF" and path.constraints == ()
    load, copy, constant, fence = path.events
    assert (load.location, load.value, copy.value, constant.value) == ("x", Read(load.key), Read(load.key), 7)
    assert (fence.location, fence.scope, fence.tags) == (None, Scope.GPU, {"F", "SC", "GPU", "GLOBAL", "SHARED"})
    assert path.registers == {"r1": Read(load.key)}


def test_registers_are_0_or_what_they_start_with():
    (path,) = paths(Store(Loc("x"), R1), Store(Loc("y"), R2), registers=(("r2", 5),))
    assert [event.value for event in path.events] == [0, 5]


def test_known_values_are_computed():
    (path,) = paths(Assign("r1", "mov", (3,)), Assign("r1", "mul", (R1, 4)), Store(Loc("x"), R1))
    assert path.events[0].value == 12


def test_a_branch_on_a_known_value_does_not_fork():
    code = (Assign("r1", "mov", (1,)), Branch("L", Comparison("eq", R1, 1)), Store(Loc("x"), 1), Label("L"))
    assert [kinds(path) for path in paths(*code)] == [""]


def test_a_branch_on_a_read_forks():
    code = (
        Load("r1", Loc("x")),
        Branch("L", Comparison("gt", R1, 0)),
        Store(Loc("x"), 1),
        Label("L"),
        Store(Loc("y"), 2),
    )
    fallen, jumped = paths(*code)
    assert (kinds(fallen), kinds(jumped)) == ("RWW", "RW")
    assert [held.operation for held in (*fallen.constraints, *jumped.constraints)] == ["le", "gt"]
    assert fallen.events[0].key == jumped.events[0].key  # the beginning is shared
    assert fallen.events[1].key != jumped.events[1].key
    assert places(fallen.events[2].ctrl) == places(jumped.events[1].ctrl) == {0}


def test_control_reaches_everything_after_the_branch_and_nothing_before():
    code = (Load("r1", Loc("x")), Load("r2", Loc("y")), Branch("L", Comparison("eq", R1, R2)), Label("L"))
    for path in paths(*code, Load("r3", Loc("z")), Fence(Mode(Order.SC))):
        assert [places(event.ctrl) for event in path.events] == [set(), set(), {0, 1}, {0, 1}]


def test_an_unconditional_jump_is_no_control_dependency():
    (path,) = paths(Load("r1", Loc("x")), Branch("L"), Store(Loc("x"), 1), Label("L"), Load("r2", Loc("y")))
    assert kinds(path) == "RR" and path.events[1].ctrl == frozenset()


@pytest.mark.parametrize("unless", [False, True])
def test_a_predicate_is_a_branch_around_its_instruction(unless):
    code = (Load("r1", Loc("x")), Store(Loc("y"), 1, guard=Guard("r1", unless)), Store(Loc("z"), 1))
    found = {kinds(path): path for path in paths(*code)}
    assert set(found) == {"RW", "RWW"}
    (held,) = found["RWW"].constraints
    assert (held.operation, held.right) == ("eq" if unless else "ne", 0)
    assert places(found["RW"].events[1].ctrl) == {0} == places(found["RWW"].events[2].ctrl)


def test_data_through_arithmetic_that_does_not_matter():
    (path,) = paths(Load("r1", Loc("x")), Assign("r2", "xor", (R1, R1)), Store(Loc("y"), R2))
    load, store = path.events
    assert places(store.data) == {0} and store.addr == store.ctrl == frozenset()
    assert store.value == Apply("xor", Read(load.key), Read(load.key))


def test_overwritten_registers_carry_nothing():
    (path,) = paths(Load("r1", Loc("x")), Assign("r1", "mov", (1,)), Store(Loc("y"), R1))
    assert path.events[1].data == frozenset()


def test_an_address_of_a_known_location_and_something():
    """As in Alglave et al. 2015, 4.5: what is added must be 0."""
    code = (
        Load("r1", Loc("x")),
        Assign("r2", "and", (R1, 0)),
        Assign("r3", "add", (Loc("y"), R2)),
        Load("r4", Reg("r3")),
    )
    (path,) = paths(*code)
    load = path.events[1]
    assert (load.location, places(load.addr), load.data) == ("y", {0}, frozenset())
    (held,) = path.constraints
    assert (held.operation, held.right) == ("eq", Address("y"))


def test_an_address_that_is_read_may_be_any_location():
    found = paths(Load("r1", Loc("x")), Store(R1, 1))
    assert [path.events[1].location for path in found] == ["s", "x", "y", "z"]
    assert all(places(path.events[1].addr) == {0} for path in found)
    assert {"SHARED"} <= found[0].events[1].tags and {"GLOBAL"} <= found[1].events[1].tags


def test_a_register_that_starts_with_an_address():
    (path,) = paths(Load("r2", R1), registers=(("r1", Loc("y")),))
    assert (path.events[0].location, path.events[0].addr) == ("y", frozenset())


def test_an_alias_is_another_name_for_the_same_memory():
    locations = (*LOCATIONS, Location("t", alias=Alias("x")))
    (path,) = paths(Load("r1", Loc("t")), Load("r2", Loc("x")), locations=locations)
    assert [(event.location, event.virtual) for event in path.events] == [("x", "t"), ("x", "x")]


def test_what_stands_for_a_location_in_a_proxy_has_its_virtual_address():
    locations = (*LOCATIONS, Location("t", alias=Alias("x")), Location("s", alias=Alias("t", "surface")))
    locations = tuple({location.name: location for location in locations}.values())
    (path,) = paths(Load("r1", Loc("s")), locations=locations)
    assert [(event.location, event.virtual) for event in path.events] == [("x", "t")]


@pytest.mark.parametrize(
    ("operation", "operands", "value"),
    [("exch", (7,), 7), ("exch", (R1,), "r1"), ("add", (7,), "add"), ("add", (R1,), "add")],
)
def test_an_rmw_is_a_read_and_a_write(operation, operands, value):
    (path,) = paths(Load("r1", Loc("y")), Rmw(operation, "r2", Loc("x"), operands, Mode(Order.ACQ_REL, Scope.GPU)))
    first, read, write = path.events
    assert (read.kind, write.kind, write.rmw) == (EventKind.READ, EventKind.WRITE, read.key)
    assert {"ACQ", "RMW", "GPU"} <= read.tags and "REL" not in read.tags
    assert {"REL", "RMW", "GPU"} <= write.tags and "ACQ" not in write.tags
    assert path.registers["r2"] == Read(read.key)
    old, given = Read(read.key), Read(first.key) if operands == (R1,) else 7
    assert write.value == {7: 7, "r1": given, "add": Apply("add", old, given)}[value]
    assert places(write.data) == ({0} if operands == (R1,) else set()) | ({1} if operation == "add" else set())


@pytest.mark.parametrize(
    ("order", "read", "write"),
    [
        (Order.ACQUIRE, "ACQ", "RLX"),
        (Order.RELEASE, "RLX", "REL"),
        (Order.RELAXED, "RLX", "RLX"),
        (Order.SC, "SC", "SC"),
    ],
)
def test_each_half_of_an_rmw_has_its_half_of_the_order(order, read, write):
    (path,) = paths(Rmw("exch", "r1", Loc("x"), (1,), Mode(order, Scope.SYS)))
    assert [event.tags & {"ACQ", "REL", "RLX", "SC"} for event in path.events] == [{read}, {write}]


def test_a_compare_and_swap_forks():
    code = (Rmw("cas", "r1", Loc("x"), (0, 5), Mode(Order.RELAXED, Scope.GPU)), Store(Loc("y"), 1))
    failed, done = paths(*code)
    assert (kinds(failed), kinds(done)) == ("RW", "RWW")
    assert [held.operation for held in (*failed.constraints, *done.constraints)] == ["ne", "eq"]
    write = done.events[1]
    assert (write.value, places(write.ctrl), write.data) == (5, {0}, frozenset())
    assert done.events[2].ctrl == failed.events[1].ctrl == frozenset()  # no branch has looked at the result


def test_a_volatile_access_is_relaxed_at_system_scope():
    (path,) = paths(Load("r1", Loc("x"), Mode(volatile=True)))
    assert path.events[0].tags == {"R", "GLOBAL", "RLX", "SYS", "VOL", "ATOM"}
    assert path.events[0].scope is Scope.SYS


def test_barriers():
    (path,) = paths(Load("r1", Loc("x")), Barrier(0), Barrier(1, resource=R1), Barrier(0, arrive=True, quorum=2))
    _, *events = path.events
    assert [event.barrier for event in events] == [Arrival(0), Arrival(Read((0, 0))), Arrival(0, quorum=2)]
    assert ["ARRIVE" in event.tags for event in events] == [False, False, True]


def test_a_thread_may_stay_at_a_barrier_with_a_quorum():
    one, other = paths(Barrier(0, quorum=2), Store(Loc("x"), 1))
    assert [len(path.events) for path in (one, other)] == [2, 1]
    assert [path.events[0].barrier.stays for path in (one, other)] == [False, True]
    assert not together(one.events[0], other.events[0])
    # what the condition asks for has no final value where the thread does not come to it
    asked = one_thread(Load("r1", Loc("x")), Barrier(0, quorum=2), Load("r2", Loc("x")))
    (_,) = unroll_threads(replace(asked, condition=asks("r2")), 0)[0].paths
    (_, _) = unroll_threads(replace(asked, condition=asks("r1")), 0)[0].paths


LOOP = (Label("L"), Load("r1", Loc("x")), Branch("L", Comparison("ne", R1, 1)))


@pytest.mark.parametrize("unroll", [0, 1, 2, 5])
def test_loops_are_taken_as_often_as_asked(unroll):
    (thread,) = unroll_threads(one_thread(*LOOP), unroll)
    assert [kinds(path) for path in thread.paths] == ["R" * length for length in range(1, unroll + 2)]
    assert thread.bounded


def test_a_loop_that_counts_is_not_bounded():
    code = (Label("L"), Assign("r1", "add", (R1, 1)), Store(Loc("x"), R1), Branch("L", Comparison("lt", R1, 3)))
    for unroll, bounded in ((1, True), (2, False), (9, False)):
        (thread,) = unroll_threads(one_thread(*code), unroll)
        assert thread.bounded is bounded
    assert [[event.value for event in path.events] for path in thread.paths] == [[1, 2, 3]]


def test_an_endless_loop_has_no_path():
    (thread,) = unroll_threads(one_thread(Label("L"), Branch("L")), 3)
    assert thread.paths == () and thread.bounded


def test_branches_forward_are_not_bounded():
    code = [Load("r1", Loc("x"))]
    for number in range(4):
        code += [Branch(f"L{number}", Comparison("eq", R1, number)), Label(f"L{number}")]
    (thread,) = unroll_threads(one_thread(*code), 0)
    assert len(thread.paths) == 16 and not thread.bounded


def test_what_is_refused(monkeypatch):
    for instruction in (Load("r1", 5), Store(R1, 1)):
        with pytest.raises(InputError, match="the address is no location of the test"):
            paths(instruction)
    monkeypatch.setattr(module, "MOST_PATHS", 3)
    with pytest.raises(InputError, match="P0 has more than 3 ways through it"):
        paths(*LOOP, unroll=3)


def test_paths_of_a_thread_do_not_hang_on_the_others():
    one = one_thread(*LOOP)
    two = replace(one, threads=(Thread((Store(Loc("x"), 1),), Place(cta=1)), *one.threads))
    (alone,), (_, beside) = unroll_threads(one, 2), unroll_threads(two, 2)
    assert [len(path.events) for path in alone.paths] == [len(path.events) for path in beside.paths]
    assert {event.key[0] for path in beside.paths for event in path.events} == {1}


def test_the_same_thread_beside_another_may_be_another_one():
    """Whether a location is atomic is said by all threads."""
    store = Thread((Store(Loc("x"), 1),), Place())
    for mode, plain in ((Mode(), True), (Mode(Order.RELAXED, Scope.SYS), False), (Mode(), True)):
        threads = (store, Thread((Load("r1", Loc("x"), mode),), Place(warp=1)))
        test = LitmusTest("t", threads, (Location("x"),), Condition(Quantifier.EXISTS, conjunction(())))
        (path,) = unroll_threads(test, 0)[0].paths
        assert ("NAL" in path.events[0].tags) is plain
