"""What tests ask: nothing at all, with a filter, and what a filter does to flags."""

import json

import pytest
from commands import synth

from constraints.executions import judge_by_sat
from constraints.smt import judge_by_smt
from corpus.dialects.c import C
from corpus.dialects.registry import parse_litmus
from corpus.litmus.locations import Loc
from corpus.litmus.normal import litmus_digest
from corpus.litmus.propositions import And, FinalRegister, Quantifier
from oracle.consistency import resolve_consistency_models
from oracle.executions.judge import Answer, judge

METHODS = (judge, judge_by_sat, judge_by_smt)

MP = """C MP
{ x = 0; y = 0; }
P0 (int* x, atomic_int* y) { *x = 1; atomic_store_explicit(y, 1, memory_order_relaxed); }
P1 (int* x, atomic_int* y) { int r0 = atomic_load_explicit(y, memory_order_relaxed); if (r0) { int r1 = *x; } }
"""


def model(name):
    (found,) = resolve_consistency_models([name])
    return found.model


def test_a_test_without_a_condition_asks_nothing_and_observes_everything():
    condition = parse_litmus(MP).condition
    assert (condition.quantifier, condition.proposition, condition.filter) == (Quantifier.EXISTS, And(()), None)
    assert condition.observed == (FinalRegister(1, "r0"), FinalRegister(1, "r1"), Loc("x"), Loc("y"))


def test_what_asks_nothing_is_printed_and_read_back():
    test = parse_litmus(MP)
    assert litmus_digest(parse_litmus(C.print(test))) == litmus_digest(test)


def test_a_filter_alone_is_read():
    condition = parse_litmus(MP + "filter (1:r0 = 1)\n").condition
    assert condition.filter is not None
    assert condition.proposition == And(())


def test_terms_that_are_named_are_what_is_observed():
    assert parse_litmus(MP + "locations [y;]\n").condition.observed == (Loc("y"),)


@pytest.mark.parametrize("method", METHODS)
def test_what_asks_nothing_has_a_verdict_and_flags(method):
    found = method(parse_litmus(MP), model("rc11"))
    assert (found.answer, found.condition, found.flags) == (Answer.ALLOWED, True, ("data-race",))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("asked", "flags"), [("1:r0 = 1", ("data-race",)), ("1:r0 = 0", ()), ("1:r0 = 2", ())])
def test_a_flag_is_of_executions_that_the_filter_lets_through(method, asked, flags):
    """The race is with the load that only ``1:r0 = 1`` leads to."""
    for question in (f"filter ({asked})", f"filter ({asked}) exists (1:r1 = 1)"):
        assert method(parse_litmus(f"{MP}{question}\n"), model("rc11")).flags == flags


def test_outcomes_are_those_that_the_filter_lets_through():
    outcomes = judge(parse_litmus(MP + "locations [1:r0; 1:r1;] filter (1:r0 = 1)\n"), model("rc11")).outcomes
    assert [[value for _, value in final] for final in outcomes] == [[1, 0], [1, 1]]


def test_label_shows_all_outcomes_of_what_asks_nothing(tmp_path):
    file = tmp_path / "mp.litmus"
    file.write_text(MP + "locations [1:r0; 1:r1;]\n")
    shown = synth("label", file, "-m", "rc11").output
    assert f"{file}: P1:r0 = 1, P1:r1 = 0" in shown
    written = synth("label", file, "-m", "rc11", "--json").output
    assert {"P1:r0": 0, "P1:r1": 0} in json.loads(written)["verdicts"]["rc11"]["outcomes"]


@pytest.mark.parametrize("header", ["C a/b|c,d[e]", 'C "C++11"', "c MP", "C RC11"])
def test_headers_as_others_write_them(header):
    assert parse_litmus(MP.replace("C MP", header)).name == header[2:].strip('"')


def test_each_reason_to_stop_is_a_finding_of_a_kind_that_is_asked_about():
    from synth.checking.questions import _KINDS, _STOPPED

    assert {_KINDS.get(why, why) for why in _STOPPED} == {"trap", "bounds", "uninitialised", "barrier"}
