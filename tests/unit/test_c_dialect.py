"""The C dialect: what functions mean as neutral instructions, what is printed, and what is refused."""

from dataclasses import replace

import pytest
from refusals import refusal

from constraints.executions import judge_by_sat
from constraints.smt import judge_by_smt
from corpus.dialects.c import C
from corpus.dialects.registry import DIALECTS, parse_litmus, translate
from corpus.errors import InputError
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
    sides_of,
)
from corpus.litmus.locations import Alias, Loc, Location, Reg, Region
from corpus.litmus.normal import litmus_digest, normal_form
from corpus.litmus.orders import Mode, Order, Place, Scope
from corpus.litmus.propositions import And, Atom, Condition, FinalRegister, Quantifier
from corpus.litmus.test import LitmusTest
from corpus.litmus.threads import Thread
from oracle.consistency import resolve_consistency_models
from oracle.executions.judge import judge

X, Y = Loc("x"), Loc("y")
BOTH = (Location("x"), Location("y"))
RLX, ACQ, REL, ACQ_REL, SC = (
    Mode(order, Scope.SYS) for order in (Order.RELAXED, Order.ACQUIRE, Order.RELEASE, Order.ACQ_REL, Order.SC)
)


def c_code(*lines, parameters="atomic_int* x, atomic_int* y", state=""):
    """The instructions of a thread with these lines, which begin in line 4 and column 1."""
    text = f"C t\n{{ {state} }}\nP0 ({parameters}) {{\n" + "\n".join(lines) + "\n}\nexists (x = 0)\n"
    return parse_litmus(text, "t.litmus").threads[0].instructions


def c_test(*instructions, place=None, locations=BOTH, registers=()):
    thread = Thread(instructions, place or Place(), registers)
    return LitmusTest("t", (thread,), locations, Condition(Quantifier.EXISTS, Atom("eq", X, 1)))


def printed(test):
    text = DIALECTS["c"].print(test)
    assert litmus_digest(parse_litmus(text)) == litmus_digest(test)
    assert DIALECTS["c"].print(parse_litmus(text)) == text
    return text


def body(*instructions):
    """The lines that are printed between a function's braces."""
    lines = printed(c_test(*instructions)).split("\n")
    return lines[lines.index(next(line for line in lines if line.startswith("P0"))) + 1 : lines.index("}")]


def test_a_file_as_herd_has_it():
    test = parse_litmus(
        """C MP+rel+acq
"message passing"
(* a comment *)
{ [x] = 0; int y = 0; }

P0 (int* x, atomic_int* y) {
  *x = 1;  // plain
  atomic_store_explicit(y, 1, memory_order_release);
}

P1(volatile int *x, atomic_int *y) {
  int r0 = atomic_load_explicit(y, memory_order_acquire);
  int r1 = *x;
}

exists (1:r0=1 /\\ 1:r1=0)
"""
    )
    assert test == LitmusTest(
        "MP+rel+acq",
        (
            Thread((Store(X, 1), Store(Y, 1, REL)), Place(cta=0)),
            Thread((Load("r0", Y, ACQ), Load("r1", X)), Place(cta=1)),
        ),
        (Location("x"), Location("y")),
        Condition(
            Quantifier.EXISTS,
            And((Atom("eq", FinalRegister(1, "r0"), 1), Atom("eq", FinalRegister(1, "r1"), 0))),
        ),
        "message passing",
    )
    assert (
        printed(test)
        == """C MP+rel+acq
"message passing"
{ x = 0; y = 0; }

P0 (int* x, atomic_int* y) {
  *x = 1;
  atomic_store_explicit(y, 1, memory_order_release);
}

P1 (int* x, atomic_int* y) {
  int r0 = atomic_load_explicit(y, memory_order_acquire);
  int r1 = *x;
}

exists (1:r0 = 1 /\\ 1:r1 = 0)
"""
    )


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("int r = atomic_load(x);", Load("r", X, SC)),
        ("int r = atomic_load_explicit(x, memory_order_relaxed);", Load("r", X, RLX)),
        ("atomic_load(x);", Load("t0", X, SC)),
        ("atomic_store(x, 2);", Store(X, 2, SC)),
        ("atomic_store_explicit(x, -1, memory_order_release);", Store(X, -1, REL)),
        ("*x = 0xffffffff;", Store(X, -1)),
        ("*x = y;", Store(X, Y)),
        ("int r = *(int*)x;", Load("r", X)),
        ("int r = atomic_exchange(x, 1);", Rmw("exch", "r", X, (1,), SC)),
        ("atomic_exchange_explicit(x, 1, memory_order_acq_rel);", Rmw("exch", None, X, (1,), ACQ_REL)),
        ("int r = atomic_fetch_add(x, 1);", Rmw("add", "r", X, (1,), SC)),
        ("int r = atomic_fetch_min_explicit(x, 1, memory_order_relaxed);", Rmw("min", "r", X, (1,), RLX)),
        ("atomic_fetch_xor_explicit(x, 3, memory_order_acquire);", Rmw("xor", None, X, (3,), ACQ)),
        ("atomic_thread_fence(memory_order_acq_rel);", Fence(ACQ_REL)),
    ],
)
def test_one_statement_is_one_instruction(line, expected):
    assert c_code(line) == (expected,)


def test_expressions_compute_in_registers_that_the_code_does_not_mention():
    assert c_code("int r = *x;", "int t0 = (r ^ r) + 1;", "*y = t0 - *x * -r;", "int s = !(r == 1 && ~t0 > 2);") == (
        Load("r", X),
        Assign("t1", "xor", (Reg("r"), Reg("r"))),
        Assign("t0", "add", (Reg("t1"), 1)),
        Load("t4", X),
        Assign("t5", "sub", (0, Reg("r"))),
        Assign("t3", "mul", (Reg("t4"), Reg("t5"))),
        Assign("t2", "sub", (Reg("t0"), Reg("t3"))),
        Store(Y, Reg("t2")),
        Assign("t7", "eq", (Reg("r"), 1)),
        Assign("t9", "xor", (Reg("t0"), -1)),
        Assign("t8", "gt", (Reg("t9"), 2)),
        Assign("t6", "and", (Reg("t7"), Reg("t8"))),
        Assign("s", "eq", (Reg("t6"), 0)),
    )


def test_if_and_else():
    assert c_code("int r = *x;", "if (r) *y = 1; else { *y = 2; r = 3; }", "if (!(r < 2)) *y = 4;") == (
        Load("r", X),
        Branch("LC0", Comparison("eq", Reg("r"), 0)),
        Store(Y, 1),
        Branch("LC1"),
        Label("LC0"),
        Store(Y, 2),
        Assign("r", "mov", (3,)),
        Label("LC1"),
        Branch("LC2", Comparison("lt", Reg("r"), 2)),
        Store(Y, 4),
        Label("LC2"),
    )


def test_loops():
    assert c_code("while (atomic_load(x) == 0) *y = 1;", "do *y = 2; while (*x != 1);", "while (1) {}") == (
        Label("LC0"),
        Load("t0", X, SC),
        Branch("LC1", Comparison("ne", Reg("t0"), 0)),
        Store(Y, 1),
        Branch("LC0"),
        Label("LC1"),
        Label("LC2"),
        Store(Y, 2),
        Load("t1", X),
        Branch("LC2", Comparison("ne", Reg("t1"), 1)),
        Label("LC3"),
        Branch("LC3"),
        Label("LC4"),
    )


EXCHANGE = "atomic_compare_exchange_strong_explicit(x, {}, 1, memory_order_acq_rel, memory_order_acquire)"


def test_a_compare_exchange_takes_its_expected_value_from_the_assignment_before():
    assert c_code("int r = 0;", EXCHANGE.format("&r") + ";") == (Rmw("cas", "r", X, (0, 1), ACQ_REL),)


def test_a_compare_exchange_with_a_variable_that_holds_something():
    assert c_code("int r = *x;", f"int s = {EXCHANGE.format('&r')};") == (
        Load("r", X),
        Assign("t0", "mov", (Reg("r"),)),
        Rmw("cas", "r", X, (Reg("t0"), 1), ACQ_REL),
        Assign("s", "eq", (Reg("r"), Reg("t0"))),
    )


def test_a_compare_exchange_whose_old_value_is_lost():
    assert c_code(EXCHANGE.format("&(int){3}") + ";") == (Rmw("cas", None, X, (3, 1), ACQ_REL),)


def test_a_compare_exchange_has_an_order_for_where_it_fails():
    weaker = EXCHANGE.replace("memory_order_acquire", "memory_order_relaxed")
    assert c_code(weaker.format("&(int){3}") + ";") == (Rmw("cas", None, X, (3, 1), ACQ_REL, failure=Order.RELAXED),)


def test_a_compare_exchange_whose_new_value_is_the_variable_keeps_the_assignment():
    lines = ("int r = 5;", "atomic_compare_exchange_strong(x, &r, r);")
    assert c_code(*lines) == (Assign("r", "mov", (5,)), Rmw("cas", "r", X, (Reg("r"), Reg("r")), SC))


def test_a_compare_exchange_with_a_location_reads_it_and_writes_it_on_failure():
    assert c_code(EXCHANGE.format("y") + ";") == (
        Load("t1", Y),
        Rmw("cas", "t0", X, (Reg("t1"), 1), ACQ_REL),
        Branch("LC0", Comparison("eq", Reg("t0"), Reg("t1"))),
        Store(Y, Reg("t0")),
        Label("LC0"),
    )


def test_the_initial_state():
    test = parse_litmus(
        "C t\n{ x = 1; [y] = 0x10; int z = -2; int* p = &x; q = p; w; v = ATOMIC_VAR_INIT(4);\n"
        "0:r0 = 3; P0:r1 = &x; 0:r2 = 0 }\n"
        "P0 (int* x, int* u) { *r1 = r0; }\nexists (0:r2 = 0)"
    )
    initial = {"x": 1, "y": 16, "z": -2, "p": X, "q": Loc("p"), "w": 0, "v": 4, "u": 0}
    assert {location.name: location.initial for location in test.locations} == initial
    assert test.threads[0].registers == (("r0", 3), ("r1", X), ("r2", 0))
    assert test.threads[0].instructions == (Store(Reg("r1"), Reg("r0")),)


def test_a_parameter_with_an_initial_value_is_a_register():
    assert c_code("*x = 1;", state="0:x = &y") == (Store(Reg("x"), 1),)


def test_locations_are_atomic_where_some_thread_accesses_them_atomically():
    text = "C t\n{ x = 0; }\n\nP0 ({0}* x) {{\n  *x = 1;\n}}\n\nP1 ({0}* x) {{\n  {1}\n}}\n\nexists (x = 1)\n"
    for kind, line in (
        ("int", "int r = *x;"),
        ("atomic_int", "atomic_fetch_add_explicit(x, 1, memory_order_relaxed);"),
    ):
        whole = text.replace("{ x = 0; }", "{{ x = 0; }}").format(kind, line)
        assert printed(parse_litmus(whole)) == whole


def test_registers_are_declared_where_they_are_first_written():
    assert body(
        Load("a", X),
        Branch("L", Comparison("ne", Reg("a"), 1)),
        Load("b", Y),
        Label("L"),
        Assign("c", "add", (Reg("b"), 1)),
        Assign("c", "min", (Reg("c"), 0)),
    ) == [
        "  int b;",
        "  int a = *x;",
        "  if (a == 1) {",
        "    b = *y;",
        "  }",
        "  int c = b + 1;",
        "  c = min(c, 0);",
    ]


def test_registers_with_names_that_c_does_not_have():
    text = printed(c_test(Load("%r1", X), Load("x", Reg("int")), registers=(("int", X),)))
    assert "0:r1 = x;" in text
    assert "int* r1;\n  int r0 = *x;\n  int r2 = *r1;" in text


def test_predicates_are_ifs():
    guarded = Store(Y, 1, guard=Guard("p", unless=True))
    assert body(Load("r", X), Assign("p", "lt", (Reg("r"), 2)), guarded) == [
        "  int r = *x;",
        "  if (r >= 2) {",
        "    *y = 1;",
        "  }",
    ]


def test_two_branches_to_one_label_are_nested():
    leave = [Branch("L", Comparison("ne", Reg("r"), value)) for value in (1, 2)]
    assert body(Load("r", X), leave[0], Load("r", Y), leave[1], Store(Y, 1), Label("L")) == [
        "  int r = *x;",
        "  if (r == 1) {",
        "    r = *y;",
        "    if (r == 2) {",
        "      *y = 1;",
        "    }",
        "  }",
    ]


def test_loops_are_printed():
    spin = (Label("L"), Load("r", X), Branch("L", Comparison("eq", Reg("r"), 0)))
    assert body(*spin) == ["  int r;", "  do {", "    r = *x;", "  } while (r == 0);"]
    leaving = (
        Label("L"),
        Load("r", X),
        Branch("E", Comparison("eq", Reg("r"), 0)),
        Store(Y, 1),
        Branch("L"),
        Label("E"),
    )
    assert body(*leaving) == ["  int r;", "  while (r = *x, r != 0) {", "    *y = 1;", "  }"]


def test_a_loop_may_compute_before_it_is_left():
    exchange = (Label("L"), Rmw("cas", "r", X, (0, 1), RLX), Branch("E", Comparison("eq", Reg("r"), 0)))
    assert body(*exchange, Store(Y, 1), Branch("L"), Label("E"))[1].startswith(
        "  while (r = 0, atomic_compare_exchange"
    )


def test_a_register_that_only_the_condition_knows_is_zero():
    test = c_test(Load("r", X))
    condition = Condition(Quantifier.EXISTS, Atom("eq", FinalRegister(0, "s"), 1))
    assert "exists (0 = 1)" in printed(replace(test, condition=condition))


def test_code_that_is_nested_too_deeply():
    with pytest.raises(InputError, match="expected code that is not nested as deeply"):
        c_code(f"*x = {'(' * 5000}1{')' * 5000};")


@pytest.mark.parametrize(
    ("lines", "x", "y"),
    [
        (["int s = 0;", "for (int i = 0; i < 4; i++) s += i;", "*x = s; *y = 1;"], 6, 1),
        (["int i = 0;", "for (; ; ) { i = i + 1; if (i == 3) break; }", "*x = i;"], 3, 0),
        (["int i = 0, s = 0;", "for (i = 1; i < 6; ++i) { if (i % 2) continue; s += i; }", "*x = s; *y = i;"], 6, 6),
        (
            ["int i = 0, s = 0;", "while (i < 5) { i++; if (i == 2) continue; if (i == 4) break; s += i; }", "*x = s;"],
            4,
            0,
        ),
        (["int i = 0, s = 0;", "do { i++; if (i == 2) continue; s += i; } while (i < 4);", "*x = s;"], 8, 0),
        (["*x = 5;", "if (*x == 5) return;", "*y = 1;"], 5, 0),
        (["*x = 1;", "goto end;", "*x = 2;", "end: *y = 3;"], 1, 3),
        (["int i = 0;", "again: i++;", "if (i < 3) goto again;", "*x = i;"], 3, 0),
        (["*x = 7; *x %= 4; *y = -7 % 4;"], 3, -3),
        (["int r = 0, s = 0;", "r += 5; r *= 3; r -= 1; r /= 2; s |= 6; s ^= 3; s &= 4;", "*x += r; *y -= -s;"], 7, 4),
        (["int r = 4;", "*x = r++; *y = ++r;"], 4, 6),
        (["int r = 4;", "*x = r--; *y = --r;"], 4, 2),
        (["*x = 3;", "int r = (*x)++;", "*y = r;"], 4, 3),
        (["*y = *x == 0 ? 4 : 5; *x = *y == 0 ? 6 : *y == 4 ? 7 : 8;"], 7, 4),
        (["*x = *x && ((*y)++); if (*x || ((*y)++)) *x = 9;"], 0, 1),
    ],
)
def test_statements_and_operators_of_c(lines, x, y):
    code = "\n".join(lines)
    test = parse_litmus(f"C t\n{{ }}\nP0 (int* x, int* y) {{\n{code}\n}}\nforall (x = {x} /\\ y = {y})\n")
    (sc,) = resolve_consistency_models(["sc"])
    judged = judge(test, sc.model, unroll=8)
    assert judged.condition and judged.executions == 1


def test_a_jump_that_is_no_if_and_no_loop_is_a_goto():
    crossing = (
        Branch("L", Comparison("eq", Reg("r"), 0)),
        Label("M"),
        Store(X, 1),
        Label("L"),
        Load("r", Y),
        Branch("M", Comparison("ne", Reg("r"), 2)),
    )
    assert body(*crossing) == [
        "  int r;",
        "  if (r == 0) goto L;",
        "M: ;",
        "  *x = 1;",
        "L: ;",
        "  r = *y;",
        "  if (r != 2) goto M;",
    ]
    reason = "without goto, a branch can only go to the end of an if or of a loop"
    assert reason in refusal(DIALECTS["opencl"].print, c_test(*crossing))
    assert reason in refusal(C.runners[0].check, c_test(*crossing))


def test_compare_exchanges_are_printed():
    assert body(Rmw("cas", "r", X, (0, 1), SC), Rmw("cas", None, X, (2, Reg("r")), REL)) == [
        "  int r = 0;",
        "  atomic_compare_exchange_strong_explicit(x, &r, 1, memory_order_seq_cst, memory_order_seq_cst);",
        "  atomic_compare_exchange_strong_explicit(x, &(int){2}, r, memory_order_release, memory_order_relaxed);",
    ]
    body(Assign("r", "mov", (0,)), Rmw("cas", "r", X, (Reg("r"), 1), SC))
    body(Assign("r", "mov", (5,)), Rmw("cas", "r", X, (Reg("r"), Reg("r")), SC))


@pytest.mark.parametrize(
    ("lines", "place", "message"),
    [
        (["int r = atomic_load_explicit(x);"], "4:9", "expected 2 arguments of atomic_load_explicit, found 1"),
        (["int r = *x"], "5:1", "found '}'"),
        (["int r = *x;", "r = s;"], "5:5", "s is not declared here"),
        (["{ int r = *x; }", "*y = r;"], "5:6", "r is not declared here"),
        (["int r = 0;", "int r = 1;"], "5:5", "r is declared twice"),
        (["int r = 0; { int r; }"], "4:18", "r is declared twice"),
        (["int x = 0;"], "4:5", "x is declared twice"),
        (["x = 1;"], "4:1", "x is a location; expected *x or a variable"),
        (["5 = 1;"], "4:1", "expected a variable or *location before ="),
        (["goto L;"], "4:6", "there is no label L here"),
        (["L: *x = 1;", "L: ;"], "5:1", "the label L is there twice"),
        (["break;"], "4:1", "expected a loop around break"),
        (["if (*x) continue;"], "4:9", "expected a loop around continue"),
        (["5 += 1;"], "4:1", "expected a variable or *location here"),
        (["f(x);"], "4:1", "f is no function of this dialect"),
        (["atomic_fetch_mul(x, 2);"], "4:1", "atomic_fetch_mul is no function of this dialect"),
        (["int r = atomic_store(x, 1);"], "4:9", "atomic_store has no value"),
        (["int r = &x;"], "4:9", "only a compare-exchange takes the address of a variable"),
        (
            ["atomic_store_explicit(x, 1, memory_order_acquire);"],
            "4:29",
            "expected memory_order_relaxed or memory_order_release or memory_order_seq_cst",
        ),
        (
            ["atomic_store_explicit(x, 1, memory_order_consume);"],
            "4:29",
            "expected memory_order_relaxed or memory_order_release or memory_order_seq_cst",
        ),
        (
            ["atomic_store_explicit(x, 1, memory_order_relaxed, memory_scope_device);"],
            "4:1",
            "expected 3 arguments of atomic_store_explicit, found 4",
        ),
        (
            [EXCHANGE.format("y").replace("memory_order_acquire", "memory_order_release") + ";"],
            "4:72",
            "expected memory_order_relaxed or memory_order_acquire or memory_order_seq_cst",
        ),
        (["mtx_lock(x);"], "4:1", "mtx_lock is no function of this dialect; it is a mutex's, for which it would take"),
        (
            ["unlock(x);"],
            "4:1",
            "it is a mutex's, for which it would take events of locks and their order; atomic_exch",
        ),
        (["mtx_t m;"], "4:7", "found 'm'; mtx_t is a mutex's"),
        (["int r = READ_ONCE(*x);"], "4:9", "it is the Linux kernel's, for which it would take its memory model"),
        (["int8_t r = 1;"], "4:8", "found 'r'; int8_t is of another width than 32 bits"),
        (["atomic_stor(x, 1);"], "4:1", "did you mean atomic_store"),
        (["*x = 99999999999;"], "4:6", "expected a 32-bit number, found 99999999999"),
    ],
)
def test_code_that_is_refused_has_its_place(lines, place, message):
    shown = refusal(c_code, *lines)
    assert shown.startswith(f"t.litmus:{place}: ")
    assert message in shown


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("{ x = 0; x = 1; }\nP0 (int* x) {}", "2:10", "x has two initial values"),
        ("{ 1:r = 0; }\nP0 (int* x) {}", "", "the initial state has a register of P1, which is no thread"),
        ("{ x = f(1); }\nP0 (int* x) {}", "2:7", "expected a number or a location, found f"),
        ("{ x = ; }\nP0 (int* x) {}", "2:7", "found ';'"),
        ("{ }\nP1 (int* x) {}", "3:1", "expected P0, found P1"),
        ("{ }\nP0 (int x) {}", "3:9", "parameters are pointers"),
        ("{ }\nP0 (global int* x) {}", "3:5", "C has no address spaces; expected a type, found global"),
        ("{ }\nP0@wg 0, dev 0 (int* x) {}", "3:3", "C has no scope tree"),
        ("{ x = 0; }\nP0 () { *x = 1; }", "3:10", "x is not declared here"),
    ],
)
def test_files_that_are_refused_have_their_place(text, place, message):
    shown = refusal(parse_litmus, f"C t\n{text}\nexists (x = 0)", "t.litmus")
    assert shown.startswith(f"t.litmus:{place}")
    assert message in shown


@pytest.mark.parametrize(
    ("test", "message"),
    [
        (c_test(Load("r", X, Mode(cache="cg"))), "P0: ld.cg r, x: C has no cache operators"),
        (c_test(Store(X, 1, Mode(volatile=True))), "P0: st.volatile x, 1: in C, volatile does not order threads"),
        (c_test(Store(X, 1, Mode(Order.RELEASE, Scope.GPU))), "P0: st.release.gpu x, 1: C has no scope gpu"),
        (
            c_test(Store(X, 1, Mode(Order.RELEASE))),
            "P0: st.release x, 1: an atomic of C is of scope sys, and this one has none",
        ),
        (c_test(Store(X, 1, ACQ)), "P0: st.acquire.sys x, 1: memory_order_acquire is not legal here"),
        (c_test(Load("r", X, Mode(tags=("texture",)))), "P0: ld.texture r, x: C has no word for texture"),
        (c_test(Load("r", 5)), "P0: ld r, 5: C has no access at an address that is a number"),
        (c_test(Barrier(0)), "P0: bar.sync 0: C has no barriers"),
        (c_test(Fence(Mode(tags=("avdevice",)))), "P0: avdevice: C has no such fence"),
        (c_test(Rmw("mul", "r", X, (2,), RLX)), "P0: atom.relaxed.sys.mul r, x, 2: there is no atomic_fetch_mul"),
        (c_test(Rmw("add", "r", X, (2,))), "P0: atom.add r, x, 2: C has no exchange that is not atomic"),
        (
            c_test(Rmw("cas", "r", X, (0, Reg("r")), SC)),
            "its result is the variable of the expected value, which it also uses",
        ),
        (c_test(locations=(Location("x", region=Region.SHARED),)), "x: C has no shared memory"),
        (c_test(locations=(Location("x"), Location("y.z"))), "y.z: C has no location of this name"),
        (c_test(locations=(Location("x"), Location("while"))), "while: C has no location of this name"),
        (c_test(locations=(Location("x"), Location("t", alias=Alias("x")))), "t: C has no aliases of locations"),
    ],
)
def test_what_c_cannot_say_is_named(test, message):
    assert message in refusal(DIALECTS["c"].print, test)


def test_another_scope_tree_is_refused():
    threads = (Thread((), Place(cta=0)), Thread((), Place(cta=0, warp=1)))
    test = LitmusTest("t", threads, (Location("x"),), Condition(Quantifier.FORALL, Atom("eq", X, 0)))
    with pytest.raises(InputError, match="C has no scope tree: expected each thread in a CTA of its own"):
        DIALECTS["c"].print(test)


def test_empty_ifs_and_dead_code():
    lines = ["int r = *x;", "if (r == 1) {", "} else {", "}", "if (0) {", "  *y = 1;", "} else {", "  *y = 2;", "}"]
    code = c_code(*lines)
    assert body(*code) == [f"  {line}" for line in lines]
    assert normal_form(c_test(*code)).threads[0].instructions[1:4] == (
        Branch("LC0", Comparison("ne", Reg("r0"), 1)),
        Branch("LC0"),
        Label("LC0"),
    )


ARRAYS = """C t
{ atomic_int y[2] = {0, 1}; int z[] = {3, 4, 5}; x; }
P0 (atomic_int* x, atomic_int* y, int* z) {
  int r0 = atomic_load_explicit(x, memory_order_relaxed);
  int r1 = atomic_load_explicit(y + r0, memory_order_relaxed);
  atomic_store_explicit(&y[1], 2, memory_order_relaxed);
  z[2] = r1;
  int r2 = z[1] + *(z + 0);
}
P1 (atomic_int* x) { atomic_store_explicit(x, 1, memory_order_relaxed); }
"""


def test_the_elements_of_an_array_are_locations():
    test = parse_litmus(ARRAYS + "exists (y[1] = 2)")
    initial = {location.name: location.initial for location in test.locations}
    assert initial == {"y": 0, "y[1]": 1, "z": 3, "z[1]": 4, "z[2]": 5, "x": 0}
    assert litmus_digest(parse_litmus(C.print(test))) == litmus_digest(test)


@pytest.mark.parametrize("way", [judge, judge_by_sat, judge_by_smt])
@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("0:r1 = 1 /\\ z[2] = 1 /\\ 0:r2 = 7 /\\ y[1] = 2", "ALLOWED"),  # r0 is 1, and r1 read y[1]
        ("0:r0 = 1 /\\ 0:r1 = 0", "FORBIDDEN"),
        ("0:r0 = 0 /\\ 0:r1 = 0", "ALLOWED"),
        ("y = 2", "FORBIDDEN"),
    ],
)
def test_an_index_that_is_computed_chooses_an_element(way, asked, answer):
    (model,) = resolve_consistency_models(["rc11"])
    assert way(parse_litmus(f"{ARRAYS}exists ({asked})"), model.model).answer == answer


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("C t\n{ int x[2] = {1, 2, 3}; }\nP0 (int* x) { *x = 1; }", "2:7: expected 1 to 2 values, found 3"),
        ("C t\n{ int x[2] = 1; }\nP0 (int* x) { *x = 1; }", "expected an array and a list of values, in braces"),
        ("C t\n{ int x = {1}; }\nP0 (int* x) { *x = 1; }", "expected an array and a list of values, in braces"),
        ("C t\n{ int x[999]; }\nP0 (int* x) { *x = 1; }", "2:9: expected a number up to 64"),
        ("C t\n{ int x[2]; }\nP0 (int* x) { x[2] = 1; }", "3:17: expected an element of x, found x[2]"),
    ],
)
def test_arrays_that_are_refused(text, message):
    assert message in refusal(parse_litmus, text)


@pytest.mark.parametrize("dialect", ["ptx", "vulkan", "gpu-ptx", "lisa"])
def test_arrays_are_c(dialect):
    with pytest.raises(InputError, match=r"y\[1\]: .* no loc"):
        DIALECTS[dialect].print(parse_litmus(ARRAYS + "exists (y[1] = 2)"))


OPERANDS = [
    ("int t = atomic_load(x) + *y;", [(1,), (-1,)]),
    ("int t = (*x + *y) + (*x = 1);", [(1, 2), (1, -2), (-1,)]),
    ("int t = *x + (*y + *x);", [(1,), (-1, 2), (-1, -2)]),
    ("*x = *y;", [(), ()]),
    ("*x = *y + 1;", [(), ()]),
    ("int t = (*x, *y);", [(), ()]),
    ("int t = *x; int u = *y;", [(), ()]),
    ("atomic_store(x, *y);", [(), ()]),
    ("atomic_fetch_add(x, *x + *y);", [(1,), (-1,), ()]),
    ("if (*x == *y) *x = 1;", [(1,), (-1,), ()]),
    ("while (*x < *y) *x = 1;", [(1,), (-1,), ()]),
]


@pytest.mark.parametrize(("line", "sides"), OPERANDS)
def test_operands_are_not_sequenced(line, sides):
    """C11 6.5p2: of an operator. Those of a comma are, and a call comes after its arguments (6.5.17, 6.5.2.2p10)."""
    code = c_code(line)
    assert [sides_of(ins) for ins in code if isinstance(ins, Load | Store | Rmw)] == sides
    test = parse_litmus(f"C t\n{{ }}\nP0 (atomic_int* x, atomic_int* y) {{ {line} }}\nexists (x = 0)")
    assert litmus_digest(parse_litmus(C.print(test))) == litmus_digest(test)


def test_operands_that_are_not_sequenced_are_c():
    test = parse_litmus("C t\n{ }\nP0 (atomic_int* x) { int t = *x + *x; }\nexists (0:t = 0)")
    for name in ("ptx", "gpu-ptx", "lisa", "vulkan"):
        with pytest.raises(InputError, match="operands that are evaluated in whichever order"):
            translate(test, DIALECTS[name])
    in_order = parse_litmus("C t\n{ }\nP0 (atomic_int* x) { int r = *x; int s = *x; int t = r + s; }\nexists (0:t = 0)")
    assert litmus_digest(in_order) != litmus_digest(test)


OUT_OF_ORDER = """C t
{ }
P0 (int* x, atomic_int* y) { *x = 1; atomic_store_explicit(y, 1, memory_order_release); }
P1 (int* x, atomic_int* y) {
  int r = 0; int s = 0;
  do { REPEATED } while (r < 0);
}
exists (1:r = 1 /\\ 1:s = 0)
"""


@pytest.mark.parametrize("way", [judge, judge_by_sat, judge_by_smt])
@pytest.mark.parametrize(
    ("code", "answer", "flags"),
    [
        ("r = atomic_load_explicit(y, memory_order_acquire); s = *x;", "FORBIDDEN", ("data-race",)),
        ("(r = atomic_load_explicit(y, memory_order_acquire)) + (s = *x);", "ALLOWED", ("data-race",)),
        ("(r = atomic_load_explicit(y, memory_order_acquire), s = *x) + 1;", "FORBIDDEN", ("data-race",)),
        ("r = *x + (*x = 1);", "ALLOWED", ("unsequenced-race", "data-race")),
        ("r = *x + atomic_exchange(x, 1);", "ALLOWED", ("data-race",)),  # a call is not unsequenced
    ],
)
def test_what_is_not_sequenced_may_come_in_any_order(way, code, answer, flags):
    (model,) = resolve_consistency_models(["c11"])
    judgement = way(parse_litmus(OUT_OF_ORDER.replace("REPEATED", code)), model.model, unroll=1)
    assert set(judgement.flags) == set(flags)
    (model,) = resolve_consistency_models(["rc11"])
    assert way(parse_litmus(OUT_OF_ORDER.replace("REPEATED", code)), model.model, unroll=1).answer == answer
