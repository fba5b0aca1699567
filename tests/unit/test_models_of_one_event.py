"""Models for which an atomic update is one event, as in herd7's C: it is in R, in W and in RMW, and rmw is empty."""

from pathlib import Path
from random import Random

import pytest
from litmus_code import program
from litmus_random import C11, PTX_2019, random_test

from constraints.executions import judge_by_sat
from constraints.smt import judge_by_smt
from corpus.dialects.registry import parse_litmus
from corpus.errors import InputError
from corpus.executions.execution import OpKind
from oracle.cat.interpreter import checked_model
from oracle.cat.syntax import parse_cat
from oracle.executions.events import VOCABULARY
from oracle.executions.judge import judge
from oracle.executions.vocabulary import vocabulary_of
from oracle.executions.witness import explain_memory
from synth.memory.explanation import explanation_account

WAYS = judge, judge_by_sat, judge_by_smt
COS = 'include "cos.cat"'


def model(text):
    return checked_model("m", parse_cat(text, str(Path("m.cat"))), VOCABULARY)


@pytest.mark.parametrize(
    ("text", "one_event"),
    [
        (f"{COS} acyclic po-loc | rf | co | fr", True),
        ("with mo from generate_orders(W, co0) acyclic mo | rf", True),
        ("let co = po & (W * W) & loc acyclic co | rf", True),
        (f"{COS} empty rmw & (fre; coe)", False),
        (f"{COS} let pair = rmw acyclic pair | rf", False),
        (f"{COS} let pair = rmw acyclic po | rf", True),  # nothing needs the definition
        (f"{COS} empty amo & (fre; coe)", False),
        ("let co = co+ acyclic co | rf", False),
        ("acyclic po-loc | rf | co | fr", False),  # not of herd7, where co has to be made
        (f"instructions F[{{'mb}}] {COS} acyclic po-loc | rf | co | fr", False),  # of LISA, where they are two
    ],
)
def test_which_models_are_so(text, one_event):
    assert model(text).syntax.one_event is one_event


LB = """C lb
{{}}
P0 (atomic_int* x, atomic_int* y) {{
  int r0 = atomic_load_explicit(x, memory_order_relaxed);
  atomic_store_explicit(y, 1, memory_order_{write});
}}
P1 (atomic_int* x, atomic_int* y) {{
  int r0 = atomic_load_explicit(y, memory_order_acquire);
  int r1 = atomic_exchange_explicit(x, 1, memory_order_{update});
}}
exists (0:r0=1 /\\ 1:r0=1)
"""


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("text", "write", "update", "answer"),
    [
        # an exchange is no write that its own read comes before
        ("acyclic ([R]; po; [W \\ R]) | rfe", "relaxed", "relaxed", "ALLOWED"),
        ("acyclic ([R]; po; [W]) | rfe", "relaxed", "relaxed", "FORBIDDEN"),
        # the order is of the whole: one that acquires and releases is in neither ACQ nor REL
        ("acyclic ([ACQ]; po; [REL]) | ([R]; po; [REL]) | rfe", "release", "release", "FORBIDDEN"),
        ("acyclic ([ACQ]; po; [REL]) | ([R]; po; [REL]) | rfe", "release", "acq_rel", "ALLOWED"),
        ("acyclic ([ACQ]; po; [ACQ_REL]) | ([R]; po; [REL]) | rfe", "release", "acq_rel", "FORBIDDEN"),
        ("acyclic ([ACQ]; po; [ACQ & REL]) | ([R]; po; [REL]) | rfe", "release", "acq_rel", "ALLOWED"),
        ("acyclic ([R]; po; [W & RLX]) | rfe", "relaxed", "relaxed", "FORBIDDEN"),
        ("acyclic ([R]; po; [W & RLX]) | rfe", "relaxed", "acquire", "ALLOWED"),
        ("acyclic ([R]; po; [RMW]) | ([R]; po; [REL]) | rfe", "release", "seq_cst", "FORBIDDEN"),
    ],
)
def test_an_update_is_in_the_sets_of_the_whole(way, text, write, update, answer):
    assert way(parse_litmus(LB.format(write=write, update=update)), model(f"{COS} {text}")).answer == answer


@pytest.mark.parametrize("way", WAYS)
def test_coherence_makes_it_atomic(way):
    """Of one event nothing can come between, where coherence is required; else it says so for each location."""
    rng, both = Random("one event"), set()
    one, two = (
        model(f"{COS} acyclic po-loc | rf | co | fr acyclic rf | addr | data | ctrl {text}")
        for text in ("", "empty rmw & (fr; co)")
    )
    assert one.syntax.one_event and not two.syntax.one_event
    for number in range(40):
        test = random_test(rng, (C11, PTX_2019)[number % 2])
        if "Barrier" not in str(test):
            said, known = way(test, one), judge(test, two)
            assert (said.answer, said.condition) == (known.answer, known.condition), test
            both.add(said.answer)
    assert both == {"ALLOWED", "FORBIDDEN"}


def test_it_does_not_read_itself():
    assert judge(program("st x 1"), model(f"{COS} empty rf & id as kept")).executions == 1
    test = parse_litmus(LB.format(write="relaxed", update="relaxed"))
    assert judge(test, model(f"{COS} flag ~empty rf & id as itself flag ~empty fr & id as overwritten")).flags == ()


def test_the_answer_says_so():
    test = parse_litmus(LB.format(write="release", update="release"))
    explained = explain_memory(test, model(f"{COS} acyclic po | rf as lb"))
    assert "An atomic update is one event to this model" in explanation_account(explained, 2).text()


def test_programs_are_made_with_updates():
    """A model of one event tells updates from other accesses by what it does not say."""
    plain = vocabulary_of([model(f"{COS} acyclic po-loc | rf | co | fr")])
    assert plain.modes.get(OpKind.UPDATE)


def test_mixed_models_are_judged_each_by_its_own_events():
    one, two = model(f"{COS} acyclic po-loc | rf | co | fr"), model("acyclic po-loc | rf | co | fr")
    lost = """C lost
{}
P0 (atomic_int* x) {
  int r0 = atomic_fetch_add_explicit(x, 1, memory_order_relaxed);
}
P1 (atomic_int* x) {
  int r0 = atomic_fetch_add_explicit(x, 1, memory_order_relaxed);
}
exists (x=1)
"""
    for way in WAYS:
        assert (way(parse_litmus(lost), one).answer, way(parse_litmus(lost), two).answer) == ("FORBIDDEN", "ALLOWED")


def test_a_name_of_another_tool_is_an_error_where_a_check_needs_it():
    assert model("let order = DMB.ISH | po let more = order; rf acyclic po | rf").checks
    with pytest.raises(InputError, match=r"^m\.cat:1:13: unknown name 'DMB\.ISH'"):
        model("let order = DMB.ISH | po let more = order; rf acyclic more")
