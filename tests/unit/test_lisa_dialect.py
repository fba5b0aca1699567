"""LISA with scopes: files by hand, what it refuses, and the bell file that declares every annotation that we print."""

import re
from itertools import product
from pathlib import Path

import pytest
from refusals import refusal

from corpus.dialects.lisa.bell import CACHES, NO_RESULT, ORDERS, SCOPES, VOLATILE, bell_file
from corpus.dialects.registry import DIALECTS, parse_litmus, read_litmus
from corpus.errors import InputError
from corpus.litmus.instructions import Assign, Barrier, Branch, Comparison, Fence, Guard, Label, Load, Rmw, Store
from corpus.litmus.locations import Loc, Location, Reg, Region
from corpus.litmus.normal import litmus_digest
from corpus.litmus.orders import Mode, Order, Place, Scope
from corpus.litmus.propositions import Atom, Condition, Quantifier
from corpus.litmus.test import LitmusTest
from corpus.litmus.threads import Thread

EXAMPLES = Path(__file__).parents[2] / "examples" / "memory"
GPU = Mode(Order.RELAXED, Scope.GPU)


def column(*lines, state="x=0;", scopes="scopes: (system (gpu (cta P0)))", condition="exists (x=1)"):
    """A test of one thread."""
    rows = "".join(f" {line} ;\n" for line in ("P0", *lines))
    return parse_litmus(f"LISA t\n{{ {state} }}\n{rows}{scopes}\n{condition}\n", "t.litmus")


def code(*lines, **parts):
    """The instructions of one thread that such lines mean."""
    return column(*lines, **parts).threads[0].instructions


def printed(test):
    return DIALECTS["lisa"].print(test)


def simple(*instructions, locations=("x",), operation="eq"):
    """A test of one thread; locations may be names."""
    every = tuple(Location(place) if isinstance(place, str) else place for place in locations)
    condition = Condition(Quantifier.EXISTS, Atom(operation, Loc("x"), 1))
    return LitmusTest("t", (Thread(tuple(instructions), Place()),), every, condition)


def test_a_file_by_hand():
    test = parse_litmus(
        """LISA mp+fence
{
x=0; y=0; z=x; 1:r5=y;
}
 P0             | P1                  ;
 w[weak,cg] x 1 | r[acquire,gpu] r1 y ;
 f[sc,cta]      | mov r2 (eq r1 0)    ;
 w[] y r7       | b[] r2 L1           ;
                | r[volatile] r3 x    ;
                | L1:                 ;
scopes: (system (gpu (cta P0 P1)))
regions: x: shared, y: global
exists (1:r1=1 /\\ 1:r3=0)
"""
    )
    assert test.threads == (
        Thread(
            (
                Store(Loc("x"), 1, Mode(cache="cg")),
                Fence(Mode(Order.SC, Scope.CTA)),
                Store(Loc("y"), Reg("r7")),
            ),
            Place(warp=0),
        ),
        Thread(
            (
                Load("r1", Loc("y"), Mode(Order.ACQUIRE, Scope.GPU)),
                Assign("r2", "eq", (Reg("r1"), 0)),
                Branch("L1", Comparison("ne", Reg("r2"), 0)),
                Load("r3", Loc("x"), Mode(volatile=True)),
                Label("L1"),
            ),
            Place(warp=1),
            (("r5", Loc("y")),),
        ),
    )
    assert test.locations == (Location("x", region=Region.SHARED), Location("y"), Location("z", Loc("x")))


@pytest.mark.parametrize(
    ("line", "instructions"),
    [
        ("r[] r1 x", [Load("r1", Loc("x"))]),
        ("r r1 x", [Load("r1", Loc("x"))]),
        ("r[weak,ca] r1 x", [Load("r1", Loc("x"), Mode(cache="ca"))]),
        ("r[relaxed] r1 x", [Load("r1", Loc("x"), Mode(Order.RELAXED))]),
        ("r[sc,system] r1 x", [Load("r1", Loc("x"), Mode(Order.SC, Scope.SYS))]),
        ("r[acquire,sys] r1 x", [Load("r1", Loc("x"), Mode(Order.ACQUIRE, Scope.SYS))]),
        ("r[] r1 x+r2", [Assign("r0", "add", (Loc("x"), Reg("r2"))), Load("r1", Reg("r0"))]),
        ("w[release,queue] x -3", [Store(Loc("x"), -3, Mode(Order.RELEASE, Scope.QUEUE))]),
        ("w[] r1+4 r2", [Assign("r0", "add", (Reg("r1"), 4)), Store(Reg("r0"), Reg("r2"))]),
        ("rmw[] r1 2 x", [Rmw("exch", "r1", Loc("x"), (2,), GPU)]),
        ("rmw[acq_rel,cta] r1 r2 x", [Rmw("exch", "r1", Loc("x"), (Reg("r2"),), Mode(Order.ACQ_REL, Scope.CTA))]),
        ("rmw[relaxed,gpu] r1 (add r1 2) x", [Rmw("add", "r1", Loc("x"), (2,), GPU)]),
        ("rmw[relaxed,gpu] r1 (xor r2 r1) x", [Rmw("xor", "r1", Loc("x"), (Reg("r2"),), GPU)]),
        ("rmw[relaxed,gpu,noreturn] r1 (and r1 2) x", [Rmw("and", None, Loc("x"), (2,), GPU)]),
        (
            "rmw[relaxed,gpu] r1 (add r2 2) x",
            [Assign("r0", "add", (Reg("r2"), 2)), Rmw("exch", "r1", Loc("x"), (Reg("r0"),), GPU)],
        ),
        ("mov r1 (neq r2 x)", [Assign("r1", "ne", (Reg("r2"), Loc("x")))]),
        ("mov %a x", [Assign("%a", "mov", (Loc("x"),))]),
        ("b[] L", [Branch("L")]),
    ],
)
def test_instructions(line, instructions):
    assert code(line, "L:") == (*instructions, Label("L"))


def test_without_scopes_each_thread_has_a_cta():
    test = parse_litmus("LISA t\n{ }\n P0 | P1 ;\n w[] x 1 | r[] r1 x ;\nexists (x=1)\n")
    assert [thread.place for thread in test.threads] == [Place(cta=0), Place(cta=1)]


@pytest.mark.parametrize(
    ("line", "place", "message"),
    [
        ("r[cg] r1 x", "4:4", "r has no annotation cg here"),
        ("r[weak,gpu] r1 x", "4:9", "r has no annotation gpu here"),
        ("r[release,gpu] r1 x", "4:4", "r has no annotation release here"),
        ("w[acquire] x 1", "4:4", "w has no annotation acquire here"),
        ("f[]", "4:2", "expected acquire, release, acq_rel, sc as the annotation of a fence"),
        ("f[weak]", "4:4", "f has no annotation weak here"),
        ("f[mb]", "4:4", "f has no annotation mb here; a bell file of your own may declare it"),
        ("b[sc] L", "4:4", "a branch has no annotation sc"),
        ("r[] r1 3", "4:2", "expected an address, found 3"),
        ("rmw[] r1 (add r1 r1) x", "4:2", "expected an rmw by add, and, xor of r1 and a value"),
        ("rmw[] r1 (eq r1 0) x", "4:2", "expected an rmw by add, and, xor of r1 and a value"),
        ("mov r1 (sub r1 2)", "4:10", "expected add, and, xor, eq or neq, found 'sub'"),
        ("w[] x 1 | w[] x 2", "4:2", "expected 1 columns, found 2"),
    ],
)
def test_one_clear_line_for_bad_code(line, place, message):
    assert refusal(column, line) == f"t.litmus:{place}: {message}"


def test_a_result_that_is_not_wanted_is_not_used():
    with pytest.raises(InputError, match=r"4:24: expected no use of r1, whose rmw is annotated noreturn"):
        column("rmw[relaxed,noreturn] r1 1 x", "w[] x r1")


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"state": "x=0; x=1;"}, "2:8: x is declared twice"),
        ({"state": "0:r1=0; 0:r1=x;"}, "2:13: r1 is declared twice"),
        ({"state": "2:r1=0;"}, "2:3: the test has no thread 2"),
        ({"scopes": "scopes: (system (gpu (cta P0 P1)))"}, "5:30: the test has no thread P1"),
        ({"scopes": "scopes: (gpu (system P0))"}, "5:15: expected a narrower level within a gpu, found system"),
        (
            {"scopes": "scopes: (system P0) (gpu 0)"},
            "5:22: expected one system around all threads, found a gpu beside it",
        ),
        ({"scopes": "scopes: (cta P0)\nregions: x: local"}, "6:13: expected global or shared, found local"),
        ({"condition": "exists (0:r1=1)"}, "6:9: the condition names register P0:r1, which the test does not have"),
    ],
)
def test_one_clear_line_for_what_is_declared(parts, message):
    assert refusal(column, "w[] x 1", **parts) == f"t.litmus:{message}"


def test_printing():
    test = read_litmus(EXAMPLES / "dlb-mp.litmus")
    assert printed(test) == (
        "LISA dlb-mp\n"
        f'"{test.description}"\n'
        "{\nt=0;\nd=0;\n}\n"
        " P0                | P1               ;\n"
        " w[weak,cg] d 1    | r[volatile] r0 t ;\n"
        " r[volatile] r2 t  | mov r2 (eq r0 0) ;\n"
        " mov r2 (add r2 1) | b[] r2 LC0       ;\n"
        " w[volatile] t r2  | r[weak,cg] r1 d  ;\n"
        "                   | LC0:             ;\n"
        "scopes: (system (gpu (queue (cta P0) (cta P1))))\n"
        "exists (1:r0 = 1 /\\ 1:r1 = 0)\n"
    )


def test_names_that_herd7_cannot_read_are_others():
    """Registers are r<digits>, labels no letters of instructions; an address to store is in a register."""
    label, jump = Label("w"), Branch("w", Comparison("eq", Reg("%old"), Reg("tmp")))
    body = (Load("%old", Loc("x")), Load("tmp", Loc("b")), jump, Store(Loc("b"), Loc("x")), label)
    test = simple(*body, locations="xb")
    text = printed(test)
    assert "r[weak] r0 x" in text and "r[weak] r1 b" in text and "b[] r2 L0_0" in text
    assert "w[weak] b r3" in text and "0:r3=x;" in text
    assert litmus_digest(parse_litmus(text)) == litmus_digest(test)


def test_scope_trees_have_the_levels_that_matter():
    def tree(*places):
        threads = tuple(Thread((Store(Loc("x"), 1),), place) for place in places)
        text = printed(
            LitmusTest("t", threads, (Location("x"),), Condition(Quantifier.EXISTS, Atom("eq", Loc("x"), 1)))
        )
        return next(line for line in text.splitlines() if line.startswith("scopes: "))

    assert tree(Place(), Place(cta=1)) == "scopes: (system (gpu (queue (cta P0) (cta P1))))"
    assert tree(Place(), Place(warp=1)) == "scopes: (system (gpu (cta P0 P1)))"
    assert tree(Place(), Place()) == "scopes: (system (gpu (cta (warp P0 P1))))"
    assert tree(Place(), Place(queue=1)) == "scopes: (system (gpu (queue (cta P0)) (queue (cta P1))))"
    assert tree(Place(), Place(gpu=1)) == "scopes: (system (gpu (cta P0)) (gpu (cta P1)))"


@pytest.mark.parametrize(
    ("instruction", "message"),
    [
        (Rmw("cas", "r1", Loc("x"), (0, 1), GPU), "P0: atom.relaxed.gpu.cas r1, x, 0, 1: LISA has no atomic cas"),
        (Rmw("min", "r1", Loc("x"), (0,), GPU), "P0: atom.relaxed.gpu.min r1, x, 0: LISA has no atomic min"),
        (Rmw("exch", "r1", Loc("x"), (Reg("r1"),), GPU), "in an rmw of LISA the target stands for the old value"),
        (Barrier(0), "P0: bar.sync 0: LISA has no barriers"),
        (Assign("r1", "max", (1, 2)), "LISA computes add, and, xor, eq, neq only"),
        (Load("r1", Loc("x"), Mode(tags=("texture",))), "LISA has no annotation for texture"),
        (
            Load("r1", Loc("x"), Mode(Order.ACQUIRE, Scope.CTA, cache="cg")),
            "one of an order, volatile and a cache operator",
        ),
        (Load("r1", 3), "LISA takes addresses from names and registers"),
    ],
)
def test_what_it_cannot_say_it_refuses_by_name(instruction, message):
    shown = refusal(printed, simple(instruction))
    assert message in shown
    assert shown.startswith("P0: ")


@pytest.mark.parametrize(
    ("test", "message"),
    [
        (simple(operation="lt"), "the condition: LISA compares with = and != only, not with lt"),
        (
            simple(locations=("mov", "x")),
            "mov: LISA has no locations of that name in global memory",
        ),
        (simple(locations=("r7", "x")), "r7: LISA has no locations of that name in global memory"),
        (
            simple(locations=(Location("b", region=Region.SHARED), "x")),
            "b: LISA has no locations of that name in shared memory",
        ),
    ],
)
def test_what_no_instruction_of_it_can_say(test, message):
    assert refusal(printed, test) == message


def test_predicates_become_branches():
    guarded = simple(Load("r1", Loc("x")), Assign("p", "eq", (Reg("r1"), 2)), Store(Loc("x"), 1, guard=Guard("p")))
    text = printed(guarded)
    assert "mov r0 (neq r1 2)" in text and "b[] r0 LC0" in text
    assert litmus_digest(parse_litmus(text)) == litmus_digest(guarded)


def declared():
    """What the bell file lets each kind of instruction be annotated with."""
    text = bell_file()
    enums = {
        name: re.findall(r"'(\w+)", words) for name, words in re.findall(r"^enum (\w+) = (.*)$", text, re.MULTILINE)
    }
    found = {}
    for kind, groups in re.findall(r"^instructions (\w+)\[(.*)\]$", text, re.MULTILINE):
        sets = [
            re.findall(r"'(\w+)", part) if part[0] == "{" else enums[part]
            for part in re.findall(r"\{.*?\}|\w+", groups)
        ]
        found.setdefault(kind, set()).update(product(*sets))
    return found


def test_the_bell_file_declares_what_is_printed_and_no_more():
    modes = [
        Mode(order, scope, volatile, cache)
        for order, scope, volatile, cache in product(Order, [None, *SCOPES], [False, True], [None, *CACHES])
    ]
    said = {kind: set() for kind in ORDERS}
    for mode in modes:
        for ins in (
            Load("r1", Loc("x"), mode),
            Store(Loc("x"), 1, mode),
            Fence(mode),
            Rmw("exch", "r1", Loc("x"), (1,), mode),
            Rmw("add", None, Loc("x"), (1,), mode),
        ):
            try:
                text = printed(simple(ins))
            except InputError:
                continue
            word, annotations = re.search(r"^ (r|w|f|rmw)\[(.*?)\]", text, re.MULTILINE).groups()
            said[word.upper()].add(tuple(annotations.split(",")))
    assert said == declared()


def test_the_bell_file_has_the_levels_in_their_order():
    text = bell_file()
    assert VOLATILE in text and NO_RESULT in text
    assert [re.findall(r"'(\w+) -> '(\w+)", part) for part in text.split("end")[:2]] == [
        [("system", "gpu"), ("gpu", "queue"), ("queue", "cta"), ("cta", "warp")],
        [("warp", "cta"), ("cta", "queue"), ("queue", "gpu"), ("gpu", "system")],
    ]
