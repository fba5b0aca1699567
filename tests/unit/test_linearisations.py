"""Total orders that a model asks for: each is an execution of its own, in every method; what they order is known."""

from math import factorial
from pathlib import Path
from random import Random

import pytest
from litmus_code import program
from litmus_random import PROFILES, random_test

from constraints.executions import judge_by_sat
from constraints.smt import judge_by_smt
from constraints.witnesses import explain_by_sat
from corpus.dialects.registry import read_litmus
from corpus.errors import InputError
from oracle.cat.interpreter import checked_model
from oracle.cat.syntax import parse_cat, shipped_models
from oracle.consistency import load_model
from oracle.executions.events import VOCABULARY
from oracle.executions.judge import Answer, judge
from oracle.executions.spins import forgets_reads
from oracle.executions.vocabulary import vocabulary_of
from oracle.executions.witness import explain_memory

EXAMPLES = Path(__file__).parents[2] / "examples" / "memory"

SEQUENTIAL = """
    with S from linearisations(M \\ IW, po)
    let before = S | (IW * (M \\ IW))
    empty (rf | co | fr) \\ before as sequential
    empty rmw & (fre; coe) as atomicity"""
"""Sequential consistency as it is first said: some total order of all accesses, and each read reads the last write."""


def model(text):
    return checked_model("m", parse_cat(text, "m.cat"), VOCABULARY)


@pytest.mark.parametrize(
    ("text", "events"), [("st x 1 | st y 1", 2), ("st x 1; ld r1 y | ld r1 y", 3), ("cta; st x 1 | st y 2 | st z 3", 3)]
)
def test_each_order_is_an_execution(text, events):
    assert judge(program(text), model("with S from linearisations(M \\ IW, 0)")).executions == factorial(events)


def test_orders_hold_what_they_must():
    assert judge(program("st x 1; st y 1 | st z 1"), model("with S from linearisations(W \\ IW, po)")).executions == 3
    nothing = judge(program("st x 1 | ld r1 x"), model("with S from linearisations(W, 0)"))
    assert nothing.executions == 4  # two orders of the writes, two writes to read
    assert judge(program("st x 1; st x 2"), model("with S from linearisations(W, co | co^-1)")).executions == 0


@pytest.mark.parametrize("way", [judge, judge_by_sat, judge_by_smt])
def test_one_order_of_all_accesses_is_sequential_consistency(way):
    sequential, sc = model(SEQUENTIAL), load_model(shipped_models()["sc"])
    rng, seen = Random("linearisations"), set()
    for number in range(30):
        test = random_test(rng, PROFILES[number % len(PROFILES)])
        if "bar" not in str(test):
            said, known = way(test, sequential), judge(test, sc)
            assert (said.answer, said.condition) == (known.answer, known.condition), test
            seen.add(said.answer)
    assert seen == {Answer.ALLOWED, Answer.FORBIDDEN}


def test_explanations_show_the_order():
    test = read_litmus(EXAMPLES / "c-sb-sc.litmus")
    for explain in (explain_memory, explain_by_sat):
        violations = explain(test, model(SEQUENTIAL)).violations
        assert {violation.check.name for violation in violations} == {"S-is-a-linearisation", "sequential"}


def test_an_order_stays_total_where_reads_are_forgotten():
    assert forgets_reads(model("with S from linearisations(R, po) acyclic S | rf as a"))
    assert not forgets_reads(model("with S from linearisations(domain(po; [R]), po) empty po \\ S as a"))


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("with S from linearisations(domain(rf), po)", 28, "known before anything runs, and this one hangs on 'rf'"),
        ("let a = range(fr) with S from linearisations(a, po)", 46, "known before anything runs"),
        ("with S from linearisations(W, po) with T from linearisations(domain(S), 0)", 62, "hangs on 'S'"),
        ("with S from linearisations(po, po)", 28, "expected a set, found a relation"),
        ("with co from linearisations(W, po)", 6, "'co' has a meaning already"),
    ],
)
def test_what_is_ordered_is_known(text, column, message):
    with pytest.raises(InputError, match=message) as error:
        model(text)
    assert error.value.column == column


def test_programs_that_are_not_known_have_none():
    with pytest.raises(InputError, match="lets executions choose 'S'") as error:
        vocabulary_of([model(SEQUENTIAL)])
    assert (error.value.line, error.value.column) == (2, 10)
