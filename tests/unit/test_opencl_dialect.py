"""The OpenCL dialect: scopes, work-groups, address spaces, fences and barriers."""

import pytest
from refusals import refusal

from corpus.dialects.opencl import OPENCL
from corpus.dialects.registry import DIALECTS, parse_litmus
from corpus.litmus.instructions import Barrier, Fence, Load, Rmw, Store
from corpus.litmus.locations import Loc, Location, Region
from corpus.litmus.normal import litmus_digest
from corpus.litmus.orders import Mode, Order, Place, Scope
from corpus.litmus.propositions import Atom, Condition, Quantifier
from corpus.litmus.test import LitmusTest, plain_locations
from corpus.litmus.threads import Thread

X, Y = Loc("x"), Loc("y")
BOTH = (Location("x"), Location("y"))
ONE = (Place(),)

ALL_FORMS = """\
OPENCL forms
{ x = 0; y = 1; }

P0@wg 0, dev 0 (global atomic_int* x, local int* y) {
  *y = 1;
  atomic_store_explicit(x, 1, memory_order_release, memory_scope_sub_group);
  atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE, memory_order_seq_cst, memory_scope_work_group);
  atomic_work_item_fence(CLK_LOCAL_MEM_FENCE, memory_order_relaxed, memory_scope_device);
  B2: barrier(CLK_GLOBAL_MEM_FENCE);
  sub_group_barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);
}

P1@wg 0, dev 0 (global atomic_int* x, local int* y) {
  int r0 = atomic_load_explicit(x, memory_order_acquire, memory_scope_device);
  int r1 = atomic_fetch_max_explicit(x, 2, memory_order_acq_rel, memory_scope_all_svm_devices);
  int r2 = 0;
  atomic_compare_exchange_strong_explicit(x, &r2, 3, memory_order_release, memory_order_relaxed, memory_scope_device);
  if (r2 == 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  int r3 = *y;
}

P2@wg 1, dev 0 () {
}

P3@wg 0, dev 1 () {
}

exists (1:r0 = 1 /\\ 1:r3 = 0)
"""


def opencl_test(*instructions, places=ONE, locations=BOTH):
    threads = tuple(Thread(instructions if place is places[0] else (), place) for place in places)
    return LitmusTest("t", threads, locations, Condition(Quantifier.EXISTS, Atom("eq", X, 1)))


def printed(test):
    text = DIALECTS["opencl"].print(test)
    assert litmus_digest(parse_litmus(text)) == litmus_digest(test)
    return text


def code(*lines):
    """The instructions of a thread with these lines, which begin in line 4 and column 1."""
    head = "OPENCL t\n{ }\nP0@wg 0, dev 0 (global atomic_int* x, local atomic_int* y) {\n"
    text = head + "\n".join(lines) + "\n}\nexists (x = 0)\n"
    return parse_litmus(text, "t.litmus").threads[0].instructions


def test_every_form():
    test = parse_litmus(ALL_FORMS)
    first, second, *_ = test.threads
    assert [thread.place for thread in test.threads] == [
        Place(gpu=0, cta=0, warp=0),
        Place(gpu=0, cta=0, warp=1),
        Place(gpu=0, cta=1),
        Place(gpu=1, cta=0),
    ]
    assert test.locations == (Location("x"), Location("y", 1, Region.SHARED))
    assert first.instructions == (
        Store(Y, 1),
        Store(X, 1, Mode(Order.RELEASE, Scope.WARP)),
        Fence(Mode(Order.SC, Scope.CTA)),
        Fence(Mode(Order.RELAXED, Scope.GPU, tags=("local-fence",))),
        Barrier(2, mode=Mode(tags=("global-fence",))),
        Barrier(0, scope=Scope.WARP),
    )
    assert second.instructions[:3] == (
        Load("r0", X, Mode(Order.ACQUIRE, Scope.GPU)),
        Rmw("max", "r1", X, (2,), Mode(Order.ACQ_REL, Scope.SYS)),
        Rmw("cas", "r2", X, (0, 3), Mode(Order.RELEASE, Scope.GPU)),
    )
    assert printed(test) == ALL_FORMS


def test_other_spellings():
    assert code(
        "int r = atomic_load(x);",
        "atomic_store_explicit(x, 1, memory_order_relaxed);",
        "atomic_store_explicit(x, 1, memory_order_relaxed, memory_scope_all_devices);",
        "work_group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE, memory_scope_work_group);",
        "B7: work_group_barrier(CLK_LOCAL_MEM_FENCE);",
    ) == (
        Load("r", X, Mode(Order.SC, Scope.GPU)),
        Store(X, 1, Mode(Order.RELAXED, Scope.GPU)),
        Store(X, 1, Mode(Order.RELAXED, Scope.SYS)),
        Barrier(0),
        Barrier(7, mode=Mode(tags=("local-fence",))),
    )


def test_memory_without_an_address_space_is_global():
    test = parse_litmus("OPENCL t\n{ }\nP0@wg 0,dev 0(volatile int* x, __local int* y) {}\nexists (x = 0)")
    assert test.locations == (Location("x"), Location("y", region=Region.SHARED))


def test_sub_groups_are_printed_where_threads_share_one():
    places = (Place(warp=1), Place(warp=1), Place(warp=0))
    text = printed(opencl_test(places=places))
    assert "P0@sg 1, wg 0, dev 0 ()" in text
    assert parse_litmus(text).threads[1].place == Place(warp=1)


def test_shared_memory_that_nobody_uses_keeps_its_region():
    text = printed(opencl_test(locations=(Location("x"), Location("y", region=Region.SHARED))))
    assert "P0@wg 0, dev 0 (local int* y)" in text


@pytest.mark.parametrize(
    ("line", "place", "message"),
    [
        ("atomic_store_explicit(x, 1, memory_order_relaxed, 3);", "4:51", "expected memory_scope_sub_group or"),
        ("atomic_store(x, 1, memory_scope_device);", "4:1", "expected 2 arguments of atomic_store, found 3"),
        ("atomic_thread_fence(memory_order_seq_cst);", "4:1", "is no function of OpenCL litmus tests"),
        ("barrier();", "4:1", "expected 1 or 2 arguments of barrier, found 0"),
        ("barrier(CLK_IMAGE_MEM_FENCE);", "4:9", "expected CLK_GLOBAL_MEM_FENCE or CLK_LOCAL_MEM_FENCE"),
        ("B: barrier(CLK_LOCAL_MEM_FENCE);", "4:1", "expected B0:, B1:, .. before a barrier"),
        ("B1: atomic_store(x, 1);", "4:1", "expected B0:, B1:, .. before a barrier"),
        ("int r = barrier(CLK_LOCAL_MEM_FENCE);", "4:9", "barrier has no value"),
    ],
)
def test_code_that_is_refused_has_its_place(line, place, message):
    shown = refusal(code, line)
    assert shown.startswith(f"t.litmus:{place}: ")
    assert message in shown


@pytest.mark.parametrize(
    ("functions", "place", "message"),
    [
        ("P0 (int* x) {}", "3:1", "expected P0@wg 0, dev 0 or the like, found no wg"),
        ("P0@wg 0 (int* x) {}", "3:1", "found no dev"),
        ("P0@wg 0x1, dev 0 (int* x) {}", "3:7", "expected a number up to"),
        ("P0@wg 0, qf 0 (int* x) {}", "3:10", "expected sg, wg or dev, each once, found qf"),
        ("P0@wg 0, wg 1 (int* x) {}", "3:10", "expected sg, wg or dev, each once, found wg"),
        (
            "P0@sg 0, wg 0, dev 0 () {}\nP1@wg 0, dev 0 () {}",
            "4:1",
            "expected a sub-group for every thread, or for none",
        ),
        (
            "P0@wg 0, dev 0 (local int* x) {}\nP1@wg 0, dev 0 (global int* x) {}",
            "4:29",
            "x is in another address space in an earlier thread",
        ),
    ],
)
def test_files_that_are_refused_have_their_place(functions, place, message):
    shown = refusal(parse_litmus, f"OPENCL t\n{{ x = 0; }}\n{functions}\nexists (x = 0)", "t.litmus")
    assert shown.startswith(f"t.litmus:{place}: ")
    assert message in shown


@pytest.mark.parametrize(
    ("test", "message"),
    [
        (
            opencl_test(Store(X, 1, Mode(Order.RELEASE, Scope.QUEUE))),
            "P0: st.release.queue x, 1: OpenCL has no atomics with a scope queue",
        ),
        (
            opencl_test(Fence(Mode(Order.SC, Scope.GPU, tags=("semsc0",)))),
            "P0: fence.sc.gpu.semsc0: OpenCL has no word for semsc0",
        ),
        (opencl_test(Barrier(0, arrive=True)), "P0: bar.arrive 0: OpenCL's barriers have a number"),
        (opencl_test(Barrier(-1)), "OpenCL has no barrier with a negative number"),
        (opencl_test(Load("r", X, Mode(cache="ca"))), "P0: ld.ca r, x: OpenCL has no cache operators"),
        (opencl_test(places=(Place(), Place(queue=1))), "OpenCL litmus tests have no queues"),
    ],
)
def test_what_opencl_cannot_say_is_named(test, message):
    assert message in refusal(DIALECTS["opencl"].print, test)


def test_local_memory_has_an_instance_for_each_work_group():
    functions = "\n".join(
        f"P{number}@wg {number // 2}, dev 0 (local int* x, global int* y) {{ *x = {number}; }}" for number in range(4)
    )
    test = parse_litmus(f"OPENCL t\n{{ x = 5; }}\n{functions}\nexists (x = 0)")
    assert [thread.instructions[0].address for thread in test.threads] == [
        Loc("x"),
        Loc("x"),
        Loc("x_wg1"),
        Loc("x_wg1"),
    ]
    assert [(loc.name, loc.initial) for loc in test.locations if loc.region is Region.SHARED] == [
        ("x", 5),
        ("x_wg1", 5),
    ]
    assert litmus_digest(parse_litmus(OPENCL.print(test))) == litmus_digest(test)


def test_the_scope_of_a_work_item_is_no_scope():
    (store,) = code("atomic_store_explicit(x, 1, memory_order_relaxed, memory_scope_work_item);")
    assert store.mode == Mode(Order.RELAXED)


def test_a_barrier_with_another_memory_scope_is_a_fence_of_it():
    (wider,) = code("work_group_barrier(CLK_LOCAL_MEM_FENCE, memory_scope_device);")
    assert wider == Barrier(0, mode=Mode(Order.ACQ_REL, Scope.GPU, tags=("local-fence",)))
    (own,) = code("work_group_barrier(CLK_LOCAL_MEM_FENCE, memory_scope_work_group);")
    assert own == Barrier(0, mode=Mode(tags=("local-fence",)))


def test_a_location_that_is_not_atomic_stays_so():
    text = "OPENCL t\n{ }\nP0@wg 0, dev 0 (global int* x) { atomic_store(x, 1); }\nexists (0:x = 0)"
    test = parse_litmus(text)
    assert plain_locations(test) == {"x"}
    assert "global int* x" in OPENCL.print(test)
    assert test.threads[0].registers == (("x", Loc("x")),)  # the condition asks for the pointer
    assert litmus_digest(parse_litmus(OPENCL.print(test))) == litmus_digest(test)
