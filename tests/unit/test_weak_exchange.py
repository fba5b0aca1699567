"""Weak compare-exchanges: they may fail whatever they read, and do so finitely often.

C11 7.17.7.4p4: even when the contents of memory referred to by expected and object are equal, it may return zero and
store back to expected the same memory contents that were originally there. C++ [atomics.types.operations]
(recommended practice): it should not consistently return false unless the object has another value or there are
concurrent modifications to it.
"""

from random import Random

import pytest

from backends.registry import BACKENDS
from backends.shared.layout import Parameters, place
from constraints.executions import judge_by_sat
from constraints.smt import judge_by_smt
from constraints.stuck import find_hang_by_sat
from corpus.dialects.registry import DIALECTS, parse_litmus, printed, translate
from corpus.errors import InputError
from corpus.litmus.describe import describe
from corpus.litmus.instructions import Rmw
from oracle.cat.syntax import shipped_models
from oracle.consistency import load_model
from oracle.executions.judge import judge
from oracle.executions.stuck import find_hang
from oracle.progress.explain import explain_system
from oracle.progress.fast.arrays import as_table, hangs_in_arrays
from oracle.progress.litmus import explore_litmus
from oracle.progress.models import GUARANTEES, MODELS, Panel, Verdict, hangs, system_verdicts, unfold
from oracle.progress.system import NO_STEP


def c(*threads, condition="true", state="x = 0; y = 0;"):
    """A test of functions over atomic x and y."""
    code = "\n".join(f"P{number} (atomic_int* x, atomic_int* y) {{ {body} }}" for number, body in enumerate(threads))
    return parse_litmus(f"C t\n{{ {state} }}\n{code}\nexists ({condition})\n")


def weak(place="&e", orders="", new=1, function="atomic_compare_exchange_weak"):
    return f"{function}{'_explicit' * bool(orders)}(x, {place}, {new}{orders})"


RC11 = load_model(shipped_models()["rc11"], "rc11")
RELAXED_FAILURE = ", memory_order_acq_rel, memory_order_relaxed"


def exchanges(test):
    return [ins for ins in test.threads[0].instructions if isinstance(ins, Rmw)]


# Texts


@pytest.mark.parametrize(
    "body",
    [
        f"int e = 0; int ok = {weak()};",
        f"int e = 0; {weak(orders=RELAXED_FAILURE)};",
        f"int ok = {weak('&(int){3}')};",
        f"int e = *y; e = {weak()};",
        f"int e = 0; if (!{weak()}) *y = e;",
        f"int e = 0; while (!{weak()}) e = 0;",
        f"int e = 0; int ok = {weak()} + {weak()};",
        f"{weak('y')};",
        "WCAS(x, &(int){0}, 1);",
    ],
)
def test_texts_are_read_back(body):
    test = c(body, condition="x = 1")
    assert all(ins.success for ins in exchanges(test))
    for dialect in ("c", "opencl"):
        text = translate(test, DIALECTS[dialect])
        assert "atomic_compare_exchange_weak_explicit(" in text and "strong" not in text


def test_a_location_as_the_expected_value_gets_the_old_one_where_it_fails():
    test = c(f"int ok = {weak('y')};", condition="0:ok = 0 /\\ x = 0 /\\ y = 0", state="x = 0; y = 1;")
    assert answers(test) == {"ALLOWED"}


def test_other_languages_have_none():
    test = c(f"int e = 0; {weak()};")
    for name in ("ptx", "gpu-ptx", "lisa", "vulkan"):
        with pytest.raises(InputError, match=f"{name} has no exchange that may fail for no reason"):
            printed(test, DIALECTS[name])
    assert describe(exchanges(test)[0]) == "atom.sc.sys.cas.weak e|t0, x, 0, 1"
    assert describe(exchanges(c(f"int ok = {weak('&(int){3}')};"))[0]) == "atom.sc.sys.cas.weak _|ok, x, 3, 1"


def test_c_languages_of_devices_have_them():
    test = c(f"int e = 0; int ok = {weak()};", condition="0:ok = 0 /\\ 0:e = 0")
    for name, call in (("cpp", ".compare_exchange_weak(expected, 1u,"), ("opencl", "atomic_compare_exchange_weak_exp")):
        (text, *_) = BACKENDS[name].memory_files("t", place(test, Parameters(instances=64))).values()
        assert call in text and "= succeeded; }" in text
    for name in ("cuda", "glsl"):
        with pytest.raises(InputError, match="has no exchange that may fail for no reason"):
            BACKENDS[name].memory_files("t", place(test, Parameters(instances=64)))


# Executions


def answers(test):
    """What the three methods say."""
    return {str(method(test, RC11, 2).answer) for method in (judge, judge_by_sat, judge_by_smt)}


@pytest.mark.parametrize(
    ("function", "condition", "answer"),
    [
        ("weak", "0:ok = 0 /\\ 0:e = 0 /\\ x = 0", "ALLOWED"),
        ("strong", "0:ok = 0 /\\ 0:e = 0", "FORBIDDEN"),
        ("weak", "0:ok = 1 /\\ 0:e = 0 /\\ x = 1", "ALLOWED"),
        ("weak", "0:ok = 0 /\\ x = 1", "FORBIDDEN"),  # who fails writes nothing
        ("weak", "0:ok = 1 /\\ x = 0", "FORBIDDEN"),
    ],
)
def test_it_may_fail_with_the_value_that_it_expects(function, condition, answer):
    call = weak(function=f"atomic_compare_exchange_{function}")
    assert answers(c(f"int e = 0; int ok = {call};", condition=condition)) == {answer}


@pytest.mark.parametrize(("failure", "answer"), [("acquire", "FORBIDDEN"), ("relaxed", "ALLOWED")])
def test_a_failure_reads_with_the_failure_order(failure, answer):
    """Message passing through a flag that an exchange reads, which expects what it finds and fails."""
    test = c(
        "atomic_store_explicit(y, 1, memory_order_relaxed); atomic_store_explicit(x, 1, memory_order_release);",
        f"int e = 1; int ok = {weak(orders=f', memory_order_acquire, memory_order_{failure}', new=2)}; "
        "int r = atomic_load_explicit(y, memory_order_relaxed);",
        condition="1:ok = 0 /\\ 1:e = 1 /\\ 1:r = 0",
    )
    assert answers(test) == {answer}


# Progress

LOCK = f"int e = 0; while (!{weak()}) e = 0; atomic_store(x, 0);"
TRY = f"int e = 0; if (!{weak()}) {{ while (atomic_load(y) == 0); }}"


def said(test):
    """The verdicts as letters by guarantee, weak then strong."""
    system = explore_litmus(test)
    letters: dict[str, str] = {}
    for name, verdict in system_verdicts(system.successors, chances=system.chances).items():
        base = name.rpartition("-")[0]
        letters[base] = letters.get(base, "") + ("T" if verdict is Verdict.TERMINATES else "H")
        assert explain_system(system, MODELS[name]).verdict is verdict
    return letters


def test_failures_for_no_reason_end():
    """A lock that spins on weak exchanges terminates where one on strong exchanges does."""
    strong = LOCK.replace("weak", "strong")
    for threads in (1, 2):
        assert said(c(*[LOCK] * threads)) == said(c(*[strong] * threads))


def test_one_failure_for_no_reason_may_lead_into_a_hang():
    assert set(said(c(TRY)).values()) == {"HH"}
    assert said(c(TRY.replace("weak", "strong"))) == said(c("atomic_store(x, 1);"))
    assert said(c(TRY, "atomic_store(y, 1);"))["fair"] == "TT"


def test_the_lasso_shows_the_failure():
    explanation = explain_system(explore_litmus(c(TRY)), MODELS["fair-strong"])
    (step,) = explanation.lasso.stem
    assert explanation.graph.is_chance(step)
    assert explanation.graph.action(step).outcome == "e = 0, and fails"


SPIN = f"int e = 0; while (!{weak()}) e = 0;"
FLIP = f"int e = 0; while (!{weak()}) {{ e = 0; atomic_store(y, 1); }}"


@pytest.mark.parametrize(
    ("body", "hangs"), [(TRY, True), (TRY.replace("weak", "strong"), False), (SPIN, False), (FLIP, False)]
)
def test_hangs_under_a_memory_model(body, hangs):
    """A round with a failure for no reason does not come again and again, be it a spin or a cycle that writes."""
    for method in (find_hang, find_hang_by_sat):
        assert (method(c(body), GUARANTEES["fair"], RC11, 3).hang is not None) == hangs


def test_chances_in_arrays():
    """Random systems of two threads: states that only chances lead to count, and chances make no cycle."""
    rng = Random("chances")
    told = set()
    for _ in range(300):
        size = rng.randint(2, 7)

        def row(share, size=size):
            return tuple(rng.randrange(size) if rng.random() < share else NO_STEP for _ in range(2))

        rows = [row(0.6) for _ in range(size)]
        chances = [
            tuple(NO_STEP if own == NO_STEP else other for own, other in zip(rows[state], row(0.3), strict=True))
            for state in range(size)
        ]
        panel = Panel(list(GUARANTEES.values()))
        both = hangs(unfold(rows, chances), panel)
        assert hangs_in_arrays(as_table(rows), panel.guarantees, as_table(chances)) == both
        told.add(both == hangs(unfold(rows), panel))
    assert told == {True, False}


def test_the_transition_system_hangs_where_an_execution_under_sc_does():
    """Random programs of two threads that take, try and give back, and wait for each other."""
    rng = Random("weak")
    sc = load_model(shipped_models()["sc"], "sc")
    parts = [
        f"while (!{weak(new=2)}) e = 0;",
        f"if (!{weak()}) {{ while (atomic_load(y) == 0); }}",
        f"if ({weak(new=2)}) atomic_store(y, 1);",
        f"{weak('&(int){1}', new=0)};",
        "atomic_store(x, 0);",
        "atomic_store(y, 1);",
        "while (atomic_load(y) == 0);",
    ]
    told = set()
    for _ in range(12):
        test = c(*("int e = 0; " + " e = 0; ".join(rng.sample(parts, rng.randint(1, 2))) for _ in range(2)))
        system = explore_litmus(test)
        expected = system_verdicts(system.successors, chances=system.chances)
        for name, guarantee in GUARANTEES.items():
            found = find_hang_by_sat(test, guarantee, sc, 2)
            if not found.provisional:
                assert (found.hang is not None) == (expected[f"{name}-weak"] is Verdict.MAY_HANG), (name, test)
                told.add((name, found.hang is not None))
    assert len(told) > 8
