"""Barriers of kernels: who is waited for, and what the end of a thread means to those who wait."""

from dataclasses import replace

import pytest

from corpus.code.launch.launch import KernelLaunch
from corpus.code.program import program_of
from corpus.code.ptx.reader import read_ptx
from corpus.code.refusals import NotUnderstoodError
from corpus.laws.ptx import CLUSTER_BARRIERS
from corpus.litmus.instructions import Barrier, Store
from corpus.litmus.orders import EXIT, Mode, Scope
from oracle.consistency import resolve_consistency_models
from synth.checking.questions import check

TWO_WARPS = KernelLaunch(block=(2, 1, 1), warp=1)
ONE_WARP = KernelLaunch(block=(2, 1, 1))

SET = "st.global.u32 [%rd1], 1;"
GET = "ld.global.u32 %r1, [%rd1]; st.global.u32 [%rd1+4], %r1;"
SPIN = "$spin: ld.relaxed.gpu.global.u32 %r1, [%rd1]; setp.eq.s32 %p2, %r1, 0; @%p2 bra $spin;"
RAISE = "st.relaxed.gpu.global.u32 [%rd1], 1;"


def program(first, second, launch=TWO_WARPS):
    """The program of two threads of a block with these instructions."""
    text = f"""
    .version 8.4
    .target sm_90
    .address_size 64
    .visible .entry k(.param .u64 k_param_0) {{
      .reg .pred %p<4>;
      .reg .b32 %r<9>;
      .reg .b64 %rd<2>;
      ld.param.u64 %rd1, [k_param_0];
      mov.u32 %r8, %tid.x;
      setp.ne.s32 %p1, %r8, 0;
      @%p1 bra $second;
      {first}
      ret;
    $second:
      {second}
      ret;
    }}
    """
    module = read_ptx(text, "k.ptx")
    return program_of(module, module.kernels[0], launch)


def found(first, second, expectation="", launch=TWO_WARPS):
    """The kinds of what is found, and under which progress models the kernel always ends."""
    (model,) = resolve_consistency_models(["ptx"])
    answers = check(program(first, second, launch), model, expectation, 2, "fair")
    ends = {name for name, verdict in answers.hang.items() if verdict == "TERMINATES"}
    return {each.kind for each in answers.findings}, ends


def test_threads_meet_wherever_their_barriers_stand():
    assert found(f"{SET} bar.sync 0;", f"bar.sync 0; {GET}")[0] == set()


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("barrier.sync 1;", "barrier.sync 2;"),
        (f"bar.sync 0; {RAISE}", SPIN),
        (f"bar.sync 0; bar.sync 0; {RAISE}", f"bar.sync 0; {SPIN}"),
    ],
    ids=["other names", "no barrier", "fewer barriers"],
)
def test_a_thread_that_has_not_ended_is_waited_for(first, second):
    kinds, ends = found(first, second)
    assert kinds == {"barrier"}
    assert not ends


@pytest.mark.parametrize(
    ("first", "second"),
    [("bar.sync 0;", ""), ("bar.sync 0; bar.sync 0;", "bar.sync 0;"), (f"{RAISE} bar.sync 0;", SPIN)],
    ids=["no barrier", "fewer barriers", "after a wait"],
)
def test_a_thread_that_has_ended_is_not_waited_for(first, second):
    kinds, ends = found(first, second)
    assert kinds == set()
    assert "fair" in ends


def test_the_end_of_a_thread_orders_nothing():
    assert found(f"bar.sync 0; {GET}", SET)[0] == {"race"}
    assert found(f"bar.sync 0; {GET}", f"{SET} bar.sync 0;")[0] == set()


def test_an_arrival_stands_for_the_end_and_is_said_to():
    made = program("bar.sync 0;", SPIN)
    (_, second) = made.test.threads
    assert second.instructions[-1] == Barrier(0, arrive=True, mode=Mode(tags=(EXIT,)))
    assert "a thread that has ended is not waited for at barriers" in made.assumed


def test_barriers_in_a_loop_that_a_thread_may_miss_are_not_understood():
    loop = "$loop: bar.sync 0; ld.relaxed.gpu.global.u32 %r1, [%rd1]; setp.eq.s32 %p2, %r1, 0; @%p2 bra $loop;"
    with pytest.raises(NotUnderstoodError, match="barrier 0 is in a loop of some threads"):
        program(loop, f"{SPIN} {RAISE}")
    program(loop, RAISE)  # it ends by itself


def test_an_atomic_operation_is_ordered_as_a_whole():
    """Who observes what an atomic operation wrote has all of it behind it, what it read included."""
    counts = "fence.acq_rel.gpu; atom.relaxed.gpu.global.add.u32 %r1, [%rd1], 1;"
    last = f"{counts} setp.ne.s32 %p2, %r1, 1; @%p2 bra $end; fence.acq_rel.gpu; st.global.u32 [%rd1], 0; $end:"
    assert found(counts, last)[0] == set()
    assert found(counts, "st.global.u32 [%rd1], 0;")[0] == {"race"}


@pytest.mark.parametrize(
    ("first", "second", "divergent"),
    [
        ("bar.sync 0;", "bar.sync 0;", True),
        ("barrier.sync.aligned 0;", "barrier.sync.aligned 0;", True),
        ("barrier.sync 0;", "barrier.sync 0;", False),
        ("bar.sync 0;", "", False),
    ],
    ids=["bar", "aligned", "not aligned", "one has ended"],
)
def test_threads_of_a_warp_have_to_execute_the_same_aligned_barrier(first, second, divergent):
    assert bool(program(first, second, ONE_WARP).barriers.divergent) is divergent
    assert not program(first, second).barriers.divergent


def parting(number, barrier):
    """Code that comes to one barrier or to another one, whichever memory says."""
    read = "ld.global.u32 %r1, [%rd1]; setp.eq.s32 %p2, %r1, 0;"
    return f"{read} @%p2 bra $O{number}; {barrier}; bra $E{number}; $O{number}: {barrier}; $E{number}:"


@pytest.mark.parametrize(
    ("barrier", "launch", "kinds"),
    [
        ("bar.sync 0", ONE_WARP, {"barrier"}),
        ("barrier.sync.aligned 0", ONE_WARP, {"barrier"}),
        ("barrier.sync 0", ONE_WARP, set()),
        ("bar.sync 0", TWO_WARPS, set()),
    ],
)
def test_memory_may_decide_which_aligned_barrier_a_thread_comes_to(barrier, launch, kinds):
    """All threads of a warp come to the same one (PTX ISA, ``barrier``, ``.aligned``), whatever decides a branch."""
    assert found(parting(1, barrier), parting(2, barrier), launch=launch)[0] == kinds
    one = parting(1, barrier)
    assert found("bra $second;", one, launch=launch)[0] == set()


def test_a_race_is_found_in_executions_that_never_end():
    """Nobody raises the flag that both wait for, and both have written before."""
    wait = "$spin: ld.relaxed.gpu.global.u32 %r1, [%rd1+4]; setp.eq.s32 %p2, %r1, 0; @%p2 bra $spin;"
    kinds, ends = found(f"{SET} {wait}", f"{SET} {wait.replace('spin', 'turn')}")
    assert kinds == {"hang", "race"} and not ends
    assert found(f"{RAISE} {wait}", f"{RAISE} {wait.replace('spin', 'turn')}")[0] == {"hang"}


@pytest.mark.parametrize(
    ("words", "order"),
    [
        ("barrier.cluster.arrive; {}; barrier.cluster.wait;", ".release"),
        ("barrier.cluster.arrive.release.aligned; {}; barrier.cluster.wait.acquire.aligned;", ".release"),
        ("barrier.cluster.arrive.relaxed; {}; barrier.cluster.wait;", ".relaxed"),
    ],
    ids=["default", "all words", "relaxed"],
)
def test_the_barrier_of_a_cluster_is_in_halves(words, order):
    both = words.format("st.relaxed.gpu.global.u32 [%rd1], 1")
    _, thread = program(both, both).test.threads
    arrival, between, wait = thread.instructions
    assert arrival == CLUSTER_BARRIERS[f"barrier.cluster.arrive{order}"]
    assert isinstance(between, Store) and wait == CLUSTER_BARRIERS["barrier.cluster.wait.acquire"]


def test_a_thread_that_waits_at_the_barrier_of_a_cluster_has_to_arrive_first():
    arrives, waits = "barrier.cluster.arrive;", "barrier.cluster.wait;"
    assert found(arrives + waits, arrives + waits)[0] == set()
    assert found(waits + arrives, arrives + waits)[0] == {"barrier"}


def test_other_words_of_the_barrier_of_a_cluster_are_not_understood():
    with pytest.raises(NotUnderstoodError, match="is not understood"):
        program("barrier.cluster.wait.release;", "")


def test_a_barrier_of_a_cluster_has_the_threads_of_its_blocks():
    both = "barrier.cluster.arrive; barrier.cluster.wait;"
    launch = KernelLaunch(grid=(4, 1, 1), block=(2, 1, 1), cluster=(2, 1, 1))
    left = program(f"{SET} {both}", f"{both} {GET}", launch)
    barriers = [ins for thread in left.test.threads for ins in thread.instructions if isinstance(ins, Barrier)]
    halves = [(Scope.QUEUE, True, False), (Scope.QUEUE, False, True)]
    assert [(each.scope, each.arrive, each.wait) for each in barriers] == halves * 8
    assert {thread.place.queue for thread in left.test.threads} == {0, 1}
    (model,) = resolve_consistency_models(["ptx"])
    one = replace(launch, grid=(2, 1, 1))
    racing = check(program(f"{SET} {both}", f"{both} {GET}", one), model, "", 2, "fair")
    assert {each.text.partition(" race:")[0] for each in racing.findings} == {
        "the write to k_param_0 by thread 0 of block 0 at line 13 of the PTX "
        "and the write to it by thread 0 of block 1 at line 13 of the PTX"
    }, "both blocks write, and nothing else is found"


COUNT = "atom.relaxed.gpu.global.add.u32 %r1, [%rd1], 1;"


@pytest.mark.parametrize(
    "code",
    [
        f"{COUNT} setp.eq.s32 %p2, %r1, 0; @%p2 ret; bar.sync 0;",
        f"bar.sync 0; {COUNT} setp.eq.s32 %p2, %r1, 0; @%p2 ret; bar.sync 0; bar.sync 0;",
        f"{COUNT} setp.eq.s32 %p2, %r1, 1; @%p2 ret; bar.red.popc.u32 %r2, 0, %p1;",
    ],
    ids=["at once", "after the first", "reduction"],
)
def test_a_thread_that_memory_ends_early_is_not_waited_for(code):
    kinds, ends = found(code, code)
    assert kinds == set() and ends == {"unfair", "hsa", "obe", "hsa+obe", "lobe", "fair"}


def test_a_thread_that_memory_keeps_from_a_barrier_is_waited_for():
    """Who is first spins for ever, and has not ended."""
    first, second = (
        f"{COUNT} setp.ne.s32 %p2, %r1, 0; @%p2 bra $meet{n}; $on{n}: bra $on{n}; $meet{n}: bar.sync 0;"
        for n in range(2)
    )
    kinds, ends = found(first, second)
    assert kinds == {"barrier"} and not ends


def test_a_barrier_in_a_loop_that_memory_ends_is_not_known():
    rounds = [
        f"$go{n}: bar.sync 0; {COUNT} setp.lt.s32 %p2, %r1, 3; @%p2 bra $go{n}; st.global.u32 [%rd1+4], 1;"
        for n in (0, 1)
    ]
    (model,) = resolve_consistency_models(["ptx"])
    answers = check(program(*rounds), model, "", 2, "fair")
    assert "barrier" not in {each.kind for each in answers.findings}
    assert answers.answers["barrier"] == "UNKNOWN" and set(answers.hang.values()) == {"UNKNOWN"}
    assert "those that end are not waited for" in answers.reasons[0]


@pytest.mark.parametrize(("word", "result"), [("popc.u32 %r1", 1), ("and.pred %p2", 1), ("or.pred %p2", 1)])
def test_a_thread_that_has_ended_brings_nothing_to_a_reduction(word, result):
    """Thread 0 alone brings 1."""
    store = "st.global.u32 [%rd1], %r1;" if "popc" in word else "selp.u32 %r1, 1, 0, %p2; st.global.u32 [%rd1], %r1;"
    first = f"setp.eq.s32 %p3, 0, 0; bar.red.{word}, 0, %p3; {store}"
    assert found(first, "", f"k_param_0 == {result}")[0] == set()
    assert found(first, "", f"k_param_0 != {result}")[0] == {"expectation"}


def test_a_reduction_after_a_thread_has_ended_at_an_earlier_one():
    red = "bar.red.popc.u32 %r1, 0, %p1;"
    with pytest.raises(NotUnderstoodError, match=r"ends after bar\.red"):
        program(f"{red} {red}", red)
    early = f"{red} {COUNT} setp.eq.s32 %p2, %r1, 0; @%p2 ret; {red}"
    with pytest.raises(NotUnderstoodError, match=r"ends after bar\.red"):
        program(early, early)


def test_grids_that_depend_on_others_are_taken_to_begin_after_them():
    both = f"griddepcontrol.launch_dependents; griddepcontrol.wait; {GET}"
    assert [thread.instructions for thread in program(both, both).test.threads] == [
        thread.instructions for thread in program(GET, GET).test.threads
    ]
    assert any("griddepcontrol" in each for each in program(both, both).assumed)
