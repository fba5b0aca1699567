"""What a .cat text means, on executions small enough to see; and what is refused when a model is loaded."""

import pytest
from litmus_code import litmus_test, program

from constraints.executions import judge_by_sat
from constraints.smt import judge_by_smt
from corpus.errors import InputError
from corpus.litmus.instructions import Barrier, Fence, Load, Store
from corpus.litmus.locations import Loc
from corpus.litmus.orders import Mode, Order, Scope
from oracle.cat.interpreter import Model
from oracle.cat.syntax import parse_cat
from oracle.consistency import load_model
from oracle.executions.judge import judge, judged
from oracle.executions.threads import unroll_threads

MP = program("st x 1; st y 1 | ld r1 y; ld r2 x", blocks=(0, 1))
# Events: 0 and 1 the initial writes of x and y, 2 and 3 the stores, 4 and 5 the loads.


def model(text):
    return Model("m", parse_cat(text, "m.cat"))


def meaning(definitions, name="x", test=MP):
    """A name's meaning in the one execution that passes the checks."""
    found = []
    for batch, allowed, _ in judged(test, unroll_threads(test, 2), model(definitions)):
        value = model(definitions).relations(batch.base)[name]
        for candidate in range(allowed.bit_length()):
            if not allowed >> candidate & 1:
                continue
            if isinstance(value, tuple):
                rows = ((a, b) for a, row in enumerate(value) for b, mask in row.items() if mask >> candidate & 1)
                found.append(sorted(rows))
            else:
                found.append(sorted(event for event, mask in value.items() if mask >> candidate & 1))
    assert found and all(value == found[0] for value in found), found
    return found[0]


SC_MP = "irreflexive rf; po; fr; po as coherent empty rf & (IW * R) as read-late "
"""Leaves one execution of ``MP``: both loads read what was stored."""


def test_the_execution():
    assert meaning(SC_MP + "let x = rf") == [(2, 5), (3, 4)]
    assert meaning(SC_MP + "let x = co") == [(0, 2), (1, 3)]
    assert meaning(SC_MP + "let x = fr") == []
    assert meaning(SC_MP + "let x = po") == [(2, 3), (4, 5)]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("[W \\ IW]", [(2, 2), (3, 3)]),
        ("IW * R", [(0, 4), (0, 5), (1, 4), (1, 5)]),
        ("rf^-1; co^-1", [(4, 1), (5, 0)]),
        ("po | rf", [(2, 3), (2, 5), (3, 4), (4, 5)]),
        ("(po | rf)+ \\ (po | rf)", [(2, 4), (3, 5)]),
        ("po; rf", [(2, 4)]),
        ("rf & ext", [(2, 5), (3, 4)]),
        ("rf & int", []),
        ("po? & loc & ([R] | po)", [(4, 4), (5, 5)]),
        ("(po*) \\ po^*", []),
        ("~(_ * R) & (_ * W) & po", [(2, 3)]),
        ("po-loc", []),
        ("loc & (W * W) & ~id", [(0, 2), (1, 3), (2, 0), (3, 1)]),
        ("WR(loc)", [(0, 5), (1, 4), (2, 5), (3, 4)]),
        ("MM(po)", [(2, 3), (4, 5)]),
        ("fencerel(F)", []),
        ("fencerel(M)", []),
        ("(IW * (_ \\ IW)) & (_ * W)", [(0, 2), (0, 3), (1, 2), (1, 3)]),
    ],
)
def test_relations(expression, expected):
    assert meaning(f"{SC_MP} let x = {expression}") == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("_", [0, 1, 2, 3, 4, 5]),
        ("W | R", [0, 1, 2, 3, 4, 5]),
        ("~W", [4, 5]),
        ("W \\ IW", [2, 3]),
        ("M & ~IW & W", [2, 3]),
        ("domain(rf)", [2, 3]),
        ("range(co) | domain(rf^-1)", [2, 3, 4, 5]),
        ("domain([R])", [4, 5]),
        ("(R & 0) | IW", [0, 1]),
        ("R \\ 0 | 0", [4, 5]),
    ],
)
def test_sets(expression, expected):
    assert meaning(f"{SC_MP} let x = {expression}") == expected


def test_a_name_means_what_it_was_last_bound_to():
    assert meaning(f"{SC_MP} let co = rf let co = co^-1 let x = co") == [(4, 3), (5, 2)]
    assert meaning(f"{SC_MP} let a = po let b = a let a = rf let x = b") == [(2, 3), (4, 5)]


def test_functions():
    assert meaning(f"{SC_MP} let between(r, s) = r; [s]; r let x = between(po | rf, R)") == [(3, 5)]
    assert meaning(f"{SC_MP} let ends(r) = domain(r) | range(r) let x = ends(co)") == [0, 1, 2, 3]
    assert meaning(f"{SC_MP} let twice(r) = r; r let four(r) = twice(twice(r)) let x = four(po | rf)") == []
    assert meaning(f"{SC_MP} let twice(r) = r; r let x = twice(po | rf)") == [(2, 4), (3, 5)]


def test_a_function_sees_the_names_of_its_definition_and_its_parameters_hide_them():
    assert meaning(f"{SC_MP} let a = po let f(r) = a | r let a = co let x = f(0)") == [(2, 3), (4, 5)]
    assert meaning(f"{SC_MP} let f(po) = po^-1 let x = f(rf)") == [(4, 3), (5, 2)]
    assert meaning(f"{SC_MP} let domain(r) = [R] let x = domain(rf)") == [(4, 4), (5, 5)]


def test_recursion_is_the_least_fixpoint():
    assert meaning(f"{SC_MP} let rec x = po | rf | (x; x)") == meaning(f"{SC_MP} let x = (po | rf)+")
    assert meaning(f"{SC_MP} let rec x = x; po") == []
    assert meaning(f"{SC_MP} let rec r = r let x = po | r") == [(2, 3), (4, 5)]
    assert meaning(f"{SC_MP} let rec x = 0 | (y & R) and y = range(rf) | x") == [4, 5]
    assert meaning(f"{SC_MP} let rec x = po | (even; po) and even = x; (rf | co)") == [(2, 3), (2, 5), (4, 5)]


def test_recursion_may_go_through_functions_and_to_the_left_of_a_difference():
    assert meaning(f"{SC_MP} let step(r) = (r; rf) \\ id let rec x = po | step(x)") == [(2, 3), (2, 4), (4, 5)]


def test_checks_and_flags():
    def answer(text):
        judgement = judge(MP, model(text))
        return judgement.executions, judgement.flags

    assert answer("acyclic po") == (4, ())
    assert answer("acyclic rf | fr | po as sc") == (3, ())
    assert answer("~acyclic rf | fr | po as weak") == (1, ())
    assert answer("~empty rf & (IW * R) as stale") == (3, ())
    assert answer("empty rf as nothing-read") == (0, ())
    assert answer("irreflexive po; rf; po; fr as no-mp flag ~empty fr as stale flag empty rf as never") == (
        3,
        ("stale",),
    )
    assert answer("flag ~acyclic rf | fr | po as weak acyclic rf | fr | po as sc") == (3, ())
    assert answer("flag acyclic po as one flag irreflexive po as two") == (4, ("one", "two"))


SETS_OF_MP = program("ld r1 x; cta; ld r2 x | st x 1", blocks=(0, 1))


def test_fences_of_a_scope():
    # Events: 0 initial, 1 load, 2 fence, 3 load, 4 store; whatever is read.
    text = "let x = "
    assert meaning(text + "membar.cta", test=SETS_OF_MP) == [(1, 3)] == meaning(text + "fencerel(F)", test=SETS_OF_MP)
    assert meaning(text + "membar.gl | membar.sys", test=SETS_OF_MP) == []
    assert meaning(text + "F & SC & CTA", test=SETS_OF_MP) == [2]


def test_scopes():
    gpu = Mode(Order.RELAXED, Scope.GPU)
    cta = Mode(Order.RELAXED, Scope.CTA)
    test = litmus_test(
        [[Store(Loc("x"), 1, cta)], [Load("r1", Loc("x"), gpu)], [Load("r1", Loc("x"), cta), Fence(cta)]], (0, 0, 1)
    )
    # Events: 0 initial, 1 the store, 2 and 3 loads, 4 a fence.
    assert meaning("let x = sr & ~id", test=test) == [(1, 2), (2, 1), (3, 4), (4, 3)]
    assert meaning("let x = scta \\ id", test=test) == [(1, 2), (2, 1), (3, 4), (4, 3)]
    assert meaning("let x = sgpu & (W * R)", test=test) == [(1, 2), (1, 3)]
    assert meaning("let x = ext & (IW * _)", test=test) == [(0, 1), (0, 2), (0, 3), (0, 4)]


def test_barriers():
    first = [Barrier(0), Barrier(1)]
    test = litmus_test([first, [Barrier(0, arrive=True), Barrier(1, quorum=1)], [Barrier(0)]], (0, 0, 1))
    # Events: 0 and 1 of the first thread, 2 and 3 of the second. The third is in another CTA; an arrive waits for none.
    assert meaning("let x = syncbar", test=test) == [(2, 0)]
    twice = litmus_test([[Barrier(0), Barrier(0)], [Barrier(0), Barrier(0)]], (0, 0))
    assert meaning("let x = syncbar", test=twice) == [(0, 2), (1, 3), (2, 0), (3, 1)]


def test_a_barrier_that_orders_memory_is_a_fence():
    release = Mode(Order.ACQ_REL, Scope.GPU, tags=("semsc0",))
    test = litmus_test([[Barrier(0, mode=release), Barrier(1), Barrier(2, mode=Mode(scope=Scope.GPU))]], (0,))
    names = ("B", "CBAR", "F", "ACQ_REL", "SEMSC0", "GPU")
    assert [meaning(f"let x = {name}", test=test) for name in names] == [[0, 1, 2], [0, 1, 2], [0], [0], [0], [0, 2]]
    two = litmus_test([[Barrier(0, mode=release)], [Barrier(0, mode=release)]], (0, 1))
    assert meaning("let x = syncbar", test=two) == []  # its scope is the GPU, but those who meet are the CTA


def test_proxies():
    through = [Load("r1", Loc("x"), Mode(tags=(proxy,))) for proxy in ("texture", "surface", "constant")]
    fences = [Fence(Mode(tags=(kind,))) for kind in ("alias", "texture", "generic")]
    test = litmus_test([[Load("r0", Loc("x")), *through, *fences, Fence(Mode(Order.SC, Scope.GPU))]], (0,))
    # Events: 0 initial, 1 to 4 loads, 5 to 8 fences.
    for name, members in {
        "TEXTURE": [2, 6],
        "SUR": [3],
        "CON & R": [4],
        "F & ALIAS": [5],
        "GEN": [0, 1, 7, 8],
        "GENERIC & F": [7, 8],
    }.items():
        assert meaning(f"let x = {name}", test=test) == members, name


@pytest.mark.parametrize("method", [judge, judge_by_sat, judge_by_smt])
def test_a_flag_can_name_fences_of_aliases(method):
    flagged = model("flag ~empty F & ALIAS as alias-fence")
    (alias,), (texture,) = ([Fence(Mode(tags=(kind,)))] for kind in ("alias", "texture"))
    assert [method(litmus_test([[fence]], (0,)), flagged).flags for fence in (alias, texture)] == [("alias-fence",), ()]


def error_of(tmp_path, text):
    path = tmp_path / "m.cat"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        load_model(str(path))
    error = caught.value
    assert error.path == str(path) and "\n" not in error.message
    return error.line, error.column, error.message


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("acyclic po | roof", 1, 14, "unknown name 'roof'"),
        ("\n let hbb = po\n acyclic hb", 3, 10, "unknown name 'hb'; did you mean hbb?"),
        ("acyclic po-lock", 1, 9, "unknown name 'po-lock'; did you mean po-loc or loc?"),
        ("acyclic W | po", 1, 13, "expected a set, as on the left, found a relation"),
        ("acyclic po & (rf | R)", 1, 20, "expected a relation, as on the left, found a set"),
        ("acyclic W", 1, 9, "expected a relation, found a set"),
        ("irreflexive po; W", 1, 17, "expected a relation, found a set"),
        ("empty W^-1", 1, 7, "expected a relation, found a set"),
        ("empty po * W", 1, 7, "expected a set, found a relation"),
        ("empty [rf]", 1, 8, "expected a set, found a relation"),
        ("empty domain(W)", 1, 14, "expected a relation, found a set"),
        ("empty fencerel(po)", 1, 16, "expected a set, found a relation"),
        ("let f(r) = r empty f", 1, 20, "expected a set or a relation, found a function"),
        ("let f(r) = r acyclic po; f", 1, 26, "expected a relation, found a function"),
        ("let f(r) = r empty ~f", 1, 21, "expected a set or a relation, found a function"),
        ("let f(r) = r empty po | f", 1, 25, "expected a set or a relation, found a function"),
        ("let f(r, s) = r; s empty f(po)", 1, 26, "'f' takes 2 arguments, found 1"),
        ("empty domain(po, rf)", 1, 7, "'domain' takes 1 argument, found 2"),
        ("empty po(rf)", 1, 7, "expected a function, and 'po' is none"),
        ("let a = po empty a(rf)", 1, 18, "expected a function, and 'a' is none"),
        ("empty domian(po)", 1, 7, "unknown name 'domian'; did you mean domain?"),
        ("let f(r) = r | nowhere acyclic po", 1, 16, "unknown name 'nowhere'"),
        ("let f(r) = s let s = po acyclic f(po)", 1, 12, "unknown name 's'"),
        ("let f(r) = r; W acyclic f(po)", 1, 15, "expected a relation, found a set"),
        ("empty ~0", 1, 7, "expected a set or a relation under ~, found 0, which may be either"),
        ("let rec a = po | ~a", 1, 19, "'a' is defined by recursion and must not stand under ~ or to the right of \\"),
        ("let rec a = po \\ a", 1, 18, "'a' is defined by recursion and must not stand under ~ or to the right of \\"),
        ("let f(r) = ~r let rec a = po | f(a)", 1, 13, "'r' is defined by recursion"),
        ("let rec a = po | b and b = rf \\ a", 1, 33, "'a' is defined by recursion"),
        ("let rec a = po | (a & W)", 1, 23, "expected a relation, as on the left, found a set"),
        ("let rec a = W and b = a; po", 1, 23, "expected a relation, found a set"),
    ],
)
def test_errors_when_a_model_is_loaded(tmp_path, text, line, column, message):
    found = error_of(tmp_path, text)
    assert found[:2] == (line, column), found
    assert found[2].startswith(message)


def test_what_is_not_called_may_still_be_defined(tmp_path):
    path = tmp_path / "m.cat"
    path.write_text("let f(r) = domain(r) let g(s) = f([s]) acyclic po")
    assert load_model(str(path)).name == "m"


def test_what_a_model_mentions():
    text = "let fence(r) = r | sync_fence let co = rf acyclic co"
    assert model(text).mentions("sync_fence") and not model(text).mentions("syncbar")
