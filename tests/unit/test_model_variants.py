"""Variants of a model, against .cat files that say the same."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from litmus_models import shipped
from litmus_random import C11, PTX_2015, random_test

from corpus.dialects.registry import parse_litmus
from oracle.cat.interpreter import checked_model
from oracle.cat.syntax import parse_cat, shipped_models
from oracle.cat.variants import branches_order_writes, definitions, emptied, without_check
from oracle.executions.events import VOCABULARY
from oracle.executions.judge import judge

MODELS = shipped()
RC11 = Path(shipped_models()["rc11"]).parent / "parts" / "rc11.cat"


def model(text):
    return checked_model("m", parse_cat(text, str(RC11.parents[1] / "m.cat")), VOCABULARY)


def answers(model, profile, shown=()):
    """What a model says of some random tests, and of those that show a difference."""
    tests = [random_test(Random(f"variants {number}"), profile) for number in range(100)]
    return [(judged.answer, judged.executions) for judged in (judge(test, model) for test in (*tests, *shown))]


def same(variant, text, of, profile, shown):
    found = answers(variant, profile, [parse_litmus(shown)])
    assert found == answers(model(text), profile, [parse_litmus(shown)])
    assert found[-1][0] == "ALLOWED" and judge(parse_litmus(shown), of).answer == "FORBIDDEN"


LOCK = """GPU_PTX lock
{ x=0; m=1; }
 T0                 | T1                 ;
 st.cg [x],1        | atom.exch r1,[m],1 ;
 membar.gl          | setp.eq r2,r1,0    ;
 atom.exch r0,[m],0 | @r2 ld.cg r3,[x]   ;
ScopeTree(grid(cta(warp T0)) (cta(warp T1)))
x: global, m: global
exists (1:r1=0 /\\ 1:r3=0)
"""
MP = """C mp
{ x = 0; y = 0; }
P0 (atomic_int* x, atomic_int* y) {
  atomic_store_explicit(x, 1, memory_order_relaxed);
  atomic_store_explicit(y, 1, memory_order_release);
}
P1 (atomic_int* x, atomic_int* y) {
  int r0 = atomic_load_explicit(y, memory_order_acquire);
  int r1 = atomic_load_explicit(x, memory_order_relaxed);
}
exists (1:r0 = 1 /\\ 1:r1 = 0)
"""
LB = """C lb
{ x = 0; y = 0; }
P0 (atomic_int* x, atomic_int* y) {
  int r0 = atomic_load_explicit(x, memory_order_relaxed);
  atomic_store_explicit(y, 1, memory_order_relaxed);
}
P1 (atomic_int* x, atomic_int* y) {
  int r0 = atomic_load_explicit(y, memory_order_relaxed);
  atomic_store_explicit(x, 1, memory_order_relaxed);
}
exists (0:r0 = 1 /\\ 1:r0 = 1)
"""


def test_control_dependencies_to_reads_order_nothing():
    """Also where a dependency is to an update, whose write stays behind the branch."""
    text = 'let ctrl = ctrl & (_ * (W | F | B))\ninclude "rmo.cat"'
    same(branches_order_writes(MODELS["rmo"]), text, MODELS["rmo"], PTX_2015, LOCK)
    assert MODELS["rmo"].digest != branches_order_writes(MODELS["rmo"]).digest


@pytest.mark.parametrize(
    ("name", "old"), [("rs", "let rs = [W]; sb-loc?; [W & atomic]; ((incl & rf); rmw)*"), ("hb", "")]
)
def test_a_definition_is_empty(name, old):
    text = f"let incl = _ * _\n{RC11.read_text()}\nacyclic sb | rf as no-thin-air"
    line = old or "let hb = (sb | (incl & sw))+"
    assert line in text
    same(emptied(MODELS["rc11"], name), text.replace(line, f"let {name} = 0 * 0"), MODELS["rc11"], C11, MP)


def test_a_check_is_left_out():
    text = f"let incl = _ * _\n{RC11.read_text()}"
    same(without_check(MODELS["rc11"], "no-thin-air"), text, MODELS["rc11"], C11, LB)
    assert [check.name for check in without_check(MODELS["rc11"], "sc").flags] == ["data-race"]


def test_recursive_definitions_and_sets_are_emptied():
    text = "let strong = M \\ WEAK\nlet rec up = rf | (up; rmw; rf)\nempty up & ([strong]; po; [strong]) as c"
    for name in ("strong", "up"):
        assert answers(emptied(model(text), name), C11) == answers(model("empty po \\ po as c"), C11)


def test_definitions_are_those_that_checks_hang_on():
    text = """
        let none = 0 * 0
        let between(s) = po; [s]; po
        let com = rf | co
        let later = none | com
        let unused = po
        let flagged = po
        acyclic later | between(F) as c
        flag ~empty flagged as f"""
    assert definitions(model(text)) == ["com", "later"]
