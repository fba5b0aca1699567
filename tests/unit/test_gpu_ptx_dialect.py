"""The 2015 dialect of PTX litmus tests: files by hand, typed printing, and one clear line for what is wrong."""

from pathlib import Path

import pytest
from refusals import refusal

from corpus.dialects.registry import DIALECTS, parse_litmus, read_litmus, translate
from corpus.errors import InputError
from corpus.litmus.instructions import (
    Assign,
    AsyncGroup,
    AsyncOperation,
    Barrier,
    Branch,
    Comparison,
    Fence,
    Guard,
    Label,
    Load,
    Rmw,
    Store,
)
from corpus.litmus.locations import Loc, Location, Reg, Region
from corpus.litmus.normal import litmus_digest
from corpus.litmus.orders import Mode, Order, Place, Scope
from corpus.litmus.propositions import Atom, Condition, FinalRegister, Quantifier
from corpus.litmus.test import LitmusTest
from corpus.litmus.threads import Thread

EXAMPLES = Path(__file__).parents[2] / "examples" / "memory"
CG = Mode(cache="cg")
TREE = "ScopeTree(grid(cta(warp T0)))"


def column(*lines, state="", tree=TREE, rest="", condition="exists (x=0)"):
    """A test of one thread."""
    rows = "".join(f" {line} ;\n" for line in ("T0", *lines))
    return parse_litmus(f"GPU_PTX t\n{{ {state} }}\n{rows}{tree}\n{rest}\n{condition}\n", "t.litmus")


def code(*lines, **parts):
    """The instructions of one thread that such lines mean."""
    return column(*lines, **parts).threads[0].instructions


def printed(test):
    return DIALECTS["gpu-ptx"].print(test)


def test_figure_12():
    """Alglave et al. 2015, Fig. 12, word by word."""
    test = read_litmus(EXAMPLES / "sb-shared-global.litmus")
    move, store, load = Assign("r0", "mov", (1,)), Store(Reg("r1"), Reg("r0"), CG), Load("r2", Reg("r3"), CG)
    assert test.name == "SB"
    assert test.threads == (
        Thread((move, store, load), Place(warp=0), (("r1", Loc("x")), ("r3", Loc("y")))),
        Thread((move, store, load), Place(warp=1), (("r1", Loc("y")), ("r3", Loc("x")))),
    )
    assert test.locations == (Location("x", region=Region.SHARED), Location("y"))
    assert [atom.left for atom in test.condition.proposition.parts] == [FinalRegister(0, "r2"), FinalRegister(1, "r2")]
    assert (
        printed(test)
        == """\
GPU_PTX SB
"Store buffering over shared and global memory, in one CTA (Alglave et al. 2015, Fig. 12)"
{
0:.reg .s32 r0; 0:.reg .b64 r1 = x; 0:.reg .s32 r2; 0:.reg .b64 r3 = y;
1:.reg .s32 r0; 1:.reg .b64 r1 = y; 1:.reg .s32 r2; 1:.reg .b64 r3 = x;
}
 T0                | T1                ;
 mov.s32 r0,1      | mov.s32 r0,1      ;
 st.cg.s32 [r1],r0 | st.cg.s32 [r1],r0 ;
 ld.cg.s32 r2,[r3] | ld.cg.s32 r2,[r3] ;
ScopeTree(grid (cta (warp T0) (warp T1)))
x: shared, y: global
exists (0:r2 = 0 /\\ 1:r2 = 0)
"""
    )


@pytest.mark.parametrize(
    ("line", "instruction"),
    [
        ("ld r1,[x]", Load("r1", Loc("x"))),
        ("ld.ca.s32 r1,[x]", Load("r1", Loc("x"), Mode(cache="ca"))),
        ("ld.volatile.u32 r1,[x]", Load("r1", Loc("x"), Mode(volatile=True))),
        ("ld.weak.global r1,[x]", Load("r1", Loc("x"))),
        ("ld.acquire.gpu r1,[x]", Load("r1", Loc("x"), Mode(Order.ACQUIRE, Scope.GPU))),
        ("ld.relaxed.cta.b32 r1, [x]", Load("r1", Loc("x"), Mode(Order.RELAXED, Scope.CTA))),
        ("st.wt [x],0x10", Store(Loc("x"), 16, Mode(cache="wt"))),
        ("st.release.sys [x],-1", Store(Loc("x"), -1, Mode(Order.RELEASE, Scope.SYS))),
        ("atom.cas r0,[x],0,1", Rmw("cas", "r0", Loc("x"), (0, 1), Mode(Order.RELAXED, Scope.GPU))),
        ("atom.acq_rel.cas.b32 r0,[x],0,1", Rmw("cas", "r0", Loc("x"), (0, 1), Mode(Order.ACQ_REL, Scope.GPU))),
        ("atom.acquire.cta.exch r0,[x],2", Rmw("exch", "r0", Loc("x"), (2,), Mode(Order.ACQUIRE, Scope.CTA))),
        ("atom.add.s32 _,[x],2", Rmw("add", None, Loc("x"), (2,), Mode(Order.RELAXED, Scope.GPU))),
        ("red.release.gpu.max [x],2", Rmw("max", None, Loc("x"), (2,), Mode(Order.RELEASE, Scope.GPU))),
        ("membar.cta", Fence(Mode(Order.SC, Scope.CTA))),
        ("membar.gl", Fence(Mode(Order.SC, Scope.GPU))),
        ("membar.sys", Fence(Mode(Order.SC, Scope.SYS))),
        ("fence.sc.gpu", Fence(Mode(Order.SC, Scope.GPU))),
        ("fence.acq_rel.cta", Fence(Mode(Order.ACQ_REL, Scope.CTA))),
        ("fence.sys", Fence(Mode(Order.ACQ_REL, Scope.SYS))),
        ("bar.sync 0", Barrier(0)),
        ("bar.arrive 1,64", Barrier(1, arrive=True, quorum=64)),
        ("mov.b64 r1,x", Assign("r1", "mov", (Loc("x"),))),
        ("mul.lo.s32 r1,2,3", Assign("r1", "mul", (2, 3))),
        ("and.b32 r1,7,0x80000000", Assign("r1", "and", (7, -(1 << 31)))),
        ("setp.ne.s32 p,1,0", Assign("p", "ne", (1, 0))),
    ],
)
def test_instructions(line, instruction):
    assert code(line, state="x=0") == (instruction,)


def test_guards_branches_and_labels():
    lines = ("ld r1,[x]", "setp.eq p,r1,0", "@p st [x],1", "@!p membar.gl", "@p bra END", "bra END", "END: st [x],2")
    assert code(*lines) == (
        Load("r1", Loc("x")),
        Assign("p", "eq", (Reg("r1"), 0)),
        Store(Loc("x"), 1, guard=Guard("p")),
        Fence(Mode(Order.SC, Scope.GPU), Guard("p", unless=True)),
        Branch("END", guard=Guard("p")),
        Branch("END"),
        Label("END"),
        Store(Loc("x"), 2),
    )


def test_figure_13_an_address_dependency_goes_through_cvt():
    """``cvt`` only widens: what is added to the address is the register that it reads."""
    test = read_litmus(EXAMPLES / "mp+membar.gl+addr.litmus")
    assert test.threads[1].instructions[1:] == (
        Assign("r2", "and", (Reg("r1"), -(1 << 31))),
        Assign("r4", "add", (Reg("r4"), Reg("r2"))),
        Load("r5", Reg("r4"), CG),
    )
    assert "cvt.s64.s32 r3,r2" in printed(test) and "add.s64 r4,r4,r3" in printed(test)


def test_helper_registers_stay_where_something_else_asks_for_them():
    wide = ("ld r1,[x]", "cvt.u64.u32 r2,r1", "add.u64 r3,r4,r2", "st [x],1")
    assert len(code(*wide, state="0:.reg .b64 r4 = x")) == 3
    assert len(code(*wide, state="0:.reg .b64 r4 = x", condition="exists (0:r2=0)")) == 4
    assert len(code(*wide, "mov r5,r2", state="0:.reg .b64 r4 = x")) == 5
    chosen = ("ld r1,[x]", "setp.eq p,r1,0", "selp.s32 r2,1,0,p")
    assert code(*chosen)[1:] == (Assign("r2", "eq", (Reg("r1"), 0)),)
    assert code(*chosen, "@p st [x],1")[2] == Assign("r2", "mov", (Reg("p"),))


def test_initial_state_and_regions():
    state = "x=1; shared y; .global z = -2; p = x; q = &y; 0:r1=z; T0:.reg .s32 r2, r3 = 7"
    test = column("ld r4,[r1]", "add r5,r2,r3", "st.shared [s],1", state=state, rest="y: shared, x: global")
    assert {(place.name, place.initial, place.region) for place in test.locations} == {
        ("x", 1, Region.GLOBAL),
        ("y", 0, Region.SHARED),
        ("z", -2, Region.GLOBAL),
        ("p", Loc("x"), Region.GLOBAL),
        ("q", Loc("y"), Region.GLOBAL),
        ("s", 0, Region.SHARED),
    }
    assert test.threads[0].registers == (("r1", Loc("z")), ("r2", 7), ("r3", 7))


@pytest.mark.parametrize(
    ("tree", "places"),
    [
        ("(grid(cta(warp T0) (warp T1)))", [Place(0, 0, 0, 0), Place(0, 0, 0, 1)]),
        ("(grid(cta(warp T0)) (cta(warp T1)))", [Place(0, 0, 0, 0), Place(0, 0, 1, 0)]),
        ("(grid (cta (warp T1 T0)))", [Place(0, 0, 0, 0), Place(0, 0, 0, 0)]),
        ("(cta T0 T1)", [Place(0, 0, 0, 0), Place(0, 0, 0, 1)]),
        ("(grid T0 T1)", [Place(0, 0, 0, 0), Place(0, 0, 1, 0)]),
        ("(grid(cta T0)) (grid(cta T1))", [Place(0, 0, 0, 0), Place(0, 1, 0, 0)]),
        ("(device(kernel(block(warp T0)))) (gpu(cta(warp T1)))", [Place(0, 0, 0, 0), Place(1, 0, 0, 0)]),
    ],
)
def test_scope_trees(tree, places):
    text = f"GPU_PTX t\n{{ }}\n T0 | T1 ;\n st [x],1 | st [x],2 ;\nScopeTree{tree}\nexists (x=1)\n"
    test = parse_litmus(text)
    assert [thread.place for thread in test.threads] == places
    assert litmus_digest(parse_litmus(printed(test))) == litmus_digest(test)


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        ("(grid(cta(warp T0)))", "t.litmus:5:1: thread 1 is not in the scope tree"),
        ("(grid(cta(warp T0) (warp T0)))", "t.litmus:5:35: thread T0 is in the scope tree twice"),
        ("(grid(cta(warp T0) (warp T2)))", "t.litmus:5:35: the test has no thread T2"),
        ("(cta(grid T0 T1))", "t.litmus:5:15: expected a narrower level within a cta, found grid"),
        ("(warp(warp T0 T1))", "t.litmus:5:16: expected a narrower level within a warp, found warp"),
        ("(team T0 T1)", "t.litmus:5:11: expected gpu, grid, cluster, cta or warp, found 'team'"),
        ("(cta T0 T1", "t.litmus:6:1: expected '(' or ')' or a thread, found the end of the file"),
    ],
)
def test_what_is_no_scope_tree(tree, message):
    text = f"GPU_PTX t\n{{ }}\n T0 | T1 ;\n st [x],1 | st [x],2 ;\nScopeTree{tree}\nexists (x=1)\n"
    assert refusal(parse_litmus, text, "t.litmus") == message


@pytest.mark.parametrize(
    ("line", "place", "message"),
    [
        ("ld.acquire r1,[x]", "4:2", "expected a scope, .cta, .gpu or .sys, after the order of ld.acquire"),
        ("ld.cta r1,[x]", "4:2", "expected an order before the scope of ld.cta"),
        ("ld.release.gpu r1,[x]", "4:2", "expected an order before the scope of ld.release.gpu"),
        ("ld.foo r1,[x]", "4:4", "ld has no .foo here"),
        ("ld.cg.ca r1,[x]", "4:7", "ld has no .ca here"),
        ("ld.volatile.cg r1,[x]", "4:2", "expected one of weak, volatile and a cache operator in ld.volatile.cg"),
        ("st.ca [x],1", "4:4", "st has no .ca here"),
        ("membar", "4:2", "expected membar with one of .cta, .gl, .sys"),
        ("membar.gpu", "4:2", "expected membar with one of .cta, .gl, .sys"),
        ("atom.inc r1,[x],1", "4:2", "expected atom with one of .exch, .cas, .add, .and, .or, .xor, .min, .max"),
        ("atom.cas r1,[x],1", "4:2", "expected 2 values of cas after the address, found 1"),
        ("bar.arrive 0", "4:2", "expected a number of threads after the barrier of bar.arrive"),
        ("st [x],r5", "4:9", "r5 is neither a register of the thread nor a location"),
        ("st [r5],1", "4:6", "r5 is neither a register of the thread nor a location"),
        ("@p st [x],1", "4:3", "p is no register of the thread"),
        ("selp r1,2,0,p", "4:2", "expected selp between 1 and 0"),
        ("st [x],1 | st [x],2", "4:2", "expected 1 columns, found 2"),
        ("ld r1,x", "4:8", "expected '[', found 'x'"),
        ("bra L", "4:6", "expected one label L in thread P0, found no such label"),
        ("ld.shared r1,[x]", "4:16", "x is in global memory, and in shared memory here"),
    ],
)
def test_one_clear_line_for_bad_code(line, place, message):
    assert refusal(column, line, rest="x: global") == f"t.litmus:{place}: {message}"


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"state": "x=0; x=1"}, "t.litmus:2:8: location x is declared twice"),
        ({"state": "0:.reg .s32 r1; 0:.reg .b64 r1"}, "t.litmus:2:31: register 0:r1 is declared twice"),
        ({"state": "1:.reg .s32 r1"}, "t.litmus:2:3: the test has no thread 1"),
        ({"state": "shared x", "rest": "x: global"}, "t.litmus:6:1: x is in shared memory, and in global memory here"),
        ({"state": "0:.reg .f32 r1"}, "t.litmus:2:10: expected a name or a type, found '.'"),
        (
            {"condition": "exists (0:r9=1)"},
            "t.litmus:7:9: the condition names register P0:r9, which the test does not have",
        ),
        ({"tree": ""}, "t.litmus:7:1: expected"),
    ],
)
def test_one_clear_line_for_what_is_declared(parts, message):
    assert refusal(column, "st [x],1", **parts).startswith(message)


def test_the_threads_are_in_order():
    with pytest.raises(InputError, match=r"^3:2: expected thread T0, found T1$"):
        parse_litmus("GPU_PTX t\n{}\n T1 ;\n st [x],1 ;\nScopeTree(cta T1)\nexists (x=1)\n")


def simple(*instructions, registers=(), locations=(Location("x"),), place=Place()):  # noqa: B008 - a constant
    condition = Condition(Quantifier.EXISTS, Atom("eq", Loc("x"), 1))
    return LitmusTest("t", (Thread(tuple(instructions), place, registers),), locations, condition)


@pytest.mark.parametrize(
    ("instruction", "message"),
    [
        (
            Load("r1", Loc("x"), Mode(Order.SC, Scope.GPU)),
            "P0: ld.sc.gpu r1, x: PTX has ld with order relaxed, acquire only",
        ),
        (
            Load("r1", Loc("x"), Mode(cache="wt")),
            "PTX has weak ld with one of ca, cg, cs, lu, cv and volatile, or nothing",
        ),
        (Store(Loc("x"), 1, Mode(Order.RELAXED)), "PTX has relaxed with a scope of cta, gpu, sys"),
        (Store(Loc("x"), 1, Mode(tags=("texture",))), "PTX has no st with texture"),
        (Rmw("sub", "r1", Loc("x"), (1,), Mode(Order.RELAXED, Scope.GPU)), "PTX has no atomic sub"),
        (Fence(Mode(Order.SC, Scope.QUEUE)), "PTX has sc with a scope of cta, gpu, sys"),
        (Fence(Mode(tags=("avdevice",))), "P0: avdevice: GPU_PTX has no such fence"),
        (Barrier(0, mode=Mode(scope=Scope.GPU)), "PTX has bar.sync with a barrier"),
        (Load("r1", 4), "PTX takes addresses from registers"),
    ],
)
def test_what_it_cannot_say_it_refuses_by_name(instruction, message):
    shown = refusal(printed, simple(instruction))
    assert message in shown
    assert shown.startswith("P0: ")


def test_comparisons_become_predicates_or_numbers():
    compare, guarded = Assign("p", "lt", (Reg("r1"), 2)), Store(Loc("x"), 1, guard=Guard("p"))
    load = Load("r1", Loc("x"))
    as_predicate = printed(simple(load, compare, guarded))
    assert ":.reg .pred p" in as_predicate and "setp.lt.s32 p,r1,2" in as_predicate and "selp" not in as_predicate
    test = simple(load, compare, guarded, Store(Loc("x"), Reg("p")))
    as_number = printed(test)
    assert ":.reg .s32 p" in as_number and "selp.s32 p,1,0,p0" in as_number and "@p1 bra" in as_number
    assert litmus_digest(parse_litmus(as_number)) == litmus_digest(test)


def test_addresses_in_memory_make_it_wide():
    test = simple(
        Load("r1", Loc("p")),
        Load("r2", Reg("r1")),
        Store(Loc("x"), Reg("r2")),
        Rmw("add", None, Loc("x"), (1,), Mode(Order.RELAXED, Scope.GPU)),
        locations=(Location("x"), Location("p", Loc("x"))),
    )
    text = printed(test)
    assert "ld.b64" in text and "red.add.u64" in text and ".s32" not in text and "p=x;" in text
    assert litmus_digest(parse_litmus(text)) == litmus_digest(test)


def test_reductions_with_an_order_that_red_lacks():
    acquire = Rmw("add", None, Loc("x"), (1,), Mode(Order.ACQUIRE, Scope.CTA))
    assert "atom.acquire.cta.add.s32 _,[r0],1" in printed(simple(acquire))


def test_labels_are_the_tests_own():
    thread = Thread((Branch("L"), Label("L"), Store(Loc("x"), 1)), Place())
    condition = Condition(Quantifier.EXISTS, Atom("eq", Loc("x"), 1))
    test = LitmusTest("t", (thread, thread), (Location("x"),), condition)
    assert "bra L0_L" in printed(test) and "L1_L:" in printed(test)
    assert litmus_digest(parse_litmus(printed(test))) == litmus_digest(test)


def test_branches_on_comparisons():
    loop = (Label("L"), Load("r1", Loc("x")), Branch("L", Comparison("ge", Reg("r1"), 1)))
    text = printed(simple(*loop))
    assert "setp.ge.s32 p0,r1,1" in text and "@p0 bra L" in text


ASYNCHRONOUS = sorted((EXAMPLES / "ptx-async").glob("*.litmus"))
NO_WORDS = ("cluster-barrier", "tcgen05", "wgmma")
NO_OBJECTS = ("reading-completes-everywhere", "reading-completion-orders-reads", "reading-one-async-proxy")


@pytest.mark.parametrize(
    "path",
    [path for path in ASYNCHRONOUS if path.stem.startswith((*NO_WORDS, *NO_OBJECTS))],
    ids=lambda path: path.stem,
)
def test_what_gpu_ptx_has_no_words_for_is_refused(path):
    """Barriers of clusters, tensor cores, and mbarriers that are initialised before the test."""
    with pytest.raises(InputError):
        translate(read_litmus(path), DIALECTS["gpu-ptx"])


@pytest.mark.parametrize(
    "path",
    [path for path in ASYNCHRONOUS if not path.stem.startswith((*NO_WORDS, *NO_OBJECTS))],
    ids=lambda path: path.stem,
)
def test_asynchronous_operations_there_and_back(path):
    """Dartagnan's PTX and GPU_PTX say the same of them, and the words stand once."""
    test = read_litmus(path)
    text = translate(test, DIALECTS["gpu-ptx"])
    there = parse_litmus(text)
    back = parse_litmus(translate(there, DIALECTS["ptx"]))
    assert litmus_digest(test) == litmus_digest(there) == litmus_digest(back)
    assert printed(there) == text


def test_an_mbarrier_has_types_and_a_wait_a_predicate():
    state = "0:.reg .b64 r1 = m; shared m; d"
    lines = (
        "mbarrier.init.shared::cta.b64 [r1],2",
        "mbarrier.arrive.expect_tx.release.cta.shared.b64 r2,[r1],16",
        "L: mbarrier.try_wait.acquire.cluster.b64 p0,[r1],r2",
        "@!p0 bra L",
        "mbarrier.test_wait.parity.relaxed.cta.b64 p1,[r1],0",
        "selp.s32 r3,1,0,p1",
    )
    test = column(*lines, state=state, condition="exists (0:r3=1)")
    kinds = [type(ins) for ins in test.threads[0].instructions]
    assert kinds == [Store, Rmw, Label, Load, Branch, Load]
    again = printed(test)
    assert "0:.reg .pred p0" in again and "@!p0 bra L" in again and again == printed(parse_litmus(again))
    assert "mbarrier.test_wait.parity.relaxed.cta.b64 p1,[r1],0 " in again and "selp.s32 r3,1,0,p1 " in again


def test_a_copy_of_several_elements():
    words = "cp.async.bulk.global.shared::cta.bulk_group [x,y],[z,w],16"
    assert code(words, "cp.async.bulk.commit_group", "cp.async.bulk.wait_group.read 0", state="x; y; z; w") == (
        AsyncOperation(Loc("x"), Loc("z"), mode=Mode(tags=("async",)), more=((Loc("y"), Loc("w")),)),
        AsyncGroup("cp.async.bulk"),
        AsyncGroup("cp.async.bulk", 0, read=True),
    )
    test = column(words, state="x; y; z; w")
    assert litmus_digest(parse_litmus(printed(test))) == litmus_digest(test)
    assert "an operation of the PTX dialect moves one location" in refusal(translate, test, DIALECTS["ptx"])


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("mbarrier.init.b64 [x]", "expected 2 operands of mbarrier.init, found 1"),
        ("mbarrier.init.b64 x,1", "expected an address in brackets as operand 1"),
        ("mbarrier.init.b64 [x],-1", "expected no negative number as operand 2"),
        ("mbarrier.invalid.b64 [x],1", "expected mbarrier.arrive"),
        ("mbarrier.arrive.release.gpu.b64 r0,[x]", "expected mbarrier.arrive"),
        ("mbarrier.arrive.release.cta.b64 [x],[x]", "expected a number or a register as operand 1"),
        ("cp.async.bulk.bulk_group [x,y],[x],16", "expected 2 addresses in operand 2"),
        ("st.async.mbarrier::complete_tx::bytes.s32 [x,y],1,[x]", "expected one address of st.async"),
        ("cp.async.bulk.tensor [x],[y],16", "expected cp.async"),
        ("fence.proxy.nothing", "expected an instruction of PTX, found fence.proxy.nothing"),
    ],
)
def test_asynchronous_instructions_that_are_none(line, message):
    found = refusal(column, line, state="x; y")
    assert message in found and "t.litmus:4:" in found
