"""The control flow of threads: what each place leads to, loops, dominators and live registers."""

from corpus.litmus.flow import ThreadFlow, live_registers, register_use, thread_flow, unguarded_flow
from corpus.litmus.instructions import Branch, Comparison, Guard, Label, Load, Store
from corpus.litmus.locations import Loc, Reg
from corpus.litmus.orders import Place
from corpus.litmus.threads import Thread

R0, R1, X, Y = Reg("r0"), Reg("r1"), Loc("x"), Loc("y")
SPIN = (
    Label("L"),
    Load("r0", X),
    Branch("L", Comparison("eq", R0, 0)),
    Store(Y, R1),
)


def thread(*code):
    return Thread(tuple(code), Place())


def test_a_spin_has_one_way_back_and_one_loop():
    flow = ThreadFlow(SPIN)
    assert flow.labels == {"L": 0}
    assert flow.successors == ((1,), (2,), (3, 0), (4,), ())
    assert flow.backward == {2: 0}
    assert flow.loops == {0: {0, 1, 2}}
    assert flow.live == ({"r1"}, {"r1"}, {"r0", "r1"}, {"r1"}, set())
    assert flow.dominators[3] == {0, 1, 2, 3}
    assert flow.post_dominators[0] == {0, 1, 2, 3, 4}
    assert flow.join(2) == 3


def test_what_is_needed_at_the_end_is_live():
    assert ThreadFlow(SPIN, needed=frozenset({"r0"})).live[3] == {"r0", "r1"}


def test_from_where_a_thread_may_stay_control_goes_to_the_end_too():
    flow = ThreadFlow(SPIN, staying=frozenset({1}))
    assert flow.successors[1] == (2, 4)
    assert flow.live[1] == {"r1"}
    assert flow.join(1) == 4


def test_ways_may_avoid_places():
    flow = ThreadFlow(SPIN)
    assert flow.reached([2], [0]) == {2, 3, 4}
    assert flow.leads(2, 1)
    assert not flow.leads(2, 1, [0])
    assert flow.leads(2, 0, [0])  # the goal itself is no place between
    assert flow.ahead[3] == {3, 4}


def test_what_leads_to_a_place_is_what_gets_there():
    code = (Label("A"), *SPIN, Branch("END", Comparison("eq", R0, 1)), Branch("A"), Label("END"))
    flow = ThreadFlow(code)
    for goal in range(flow.end + 1):
        for avoided in range(flow.end + 1):
            there = {
                place for place in range(flow.end + 1) if place == goal or goal in flow.reached([place], [avoided])
            }
            assert flow.reaching(goal, [avoided]) == there


def test_a_place_that_is_never_reached_is_in_no_way():
    flow = ThreadFlow((Branch("END"), Store(X, 1), Label("END")))
    assert flow.successors[0] == (2,)
    assert flow.places == (0, 2, 3)
    assert set(flow.dominators) == {0, 2, 3}


def test_an_instruction_with_a_predicate_may_be_left_out():
    """A jump with a predicate may go on, and a load with one may leave its target as it was."""
    code = (
        Load("r0", X, guard=Guard("p")),
        Branch("END", guard=Guard("p", unless=True)),
        Store(Y, R0),
        Label("END"),
    )
    flow = thread_flow(thread(*code))
    assert flow.successors[1] == (2, 3)
    assert flow.live[0] == {"p", "r0"}
    lowered = unguarded_flow(thread(*code))
    assert not any(ins.guard for ins in lowered.code if not isinstance(ins, Label))
    assert lowered.live[0] == {"p", "r0"}


def test_a_loop_that_is_entered_by_two_ways_is_no_natural_loop():
    code = (
        Branch("B", Comparison("eq", R0, 0)),
        Label("A"),
        Load("r0", X),
        Label("B"),
        Branch("A", Comparison("eq", R0, 0)),
    )
    assert not ThreadFlow(code).is_structured
    assert not ThreadFlow(code).loops
    assert ThreadFlow(SPIN).is_structured


def test_equal_threads_share_their_flow():
    assert thread_flow(thread(*SPIN)) is thread_flow(thread(*SPIN))


def test_registers_are_live_around_a_ring_of_nodes_whatever_their_order():
    """From a the ring leads to c, which reads, and c leads back."""
    read, moved = register_use(Store(X, R0)), register_use(Label("L"))
    rows = [("a", ("b",), moved), ("b", ("c",), moved), ("c", ("a", "out"), read)]
    assert live_registers(rows, {"out": frozenset({"r1"})})["a"] == {"r0", "r1"}
