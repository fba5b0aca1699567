"""Outcomes of memory tests beside what models say of them."""

from __future__ import annotations

import dataclasses
from itertools import product
from pathlib import Path

import pytest
from msgspec.structs import replace

from backends.shared.layout import outcome_terms, place
from backends.shared.results import MemoryResult
from corpus.dialects.registry import parse_litmus
from corpus.litmus.condition import spell
from corpus.litmus.propositions import And, Atom, Condition, Quantifier
from corpus.litmus.test import LitmusTest
from oracle.consistency import resolve_consistency_models
from oracle.executions.judge import Answer
from synth.memory.conformance import (
    CUT,
    Observation,
    asked_outcomes,
    forbidden_outcomes,
    is_asked_for,
    model_report,
    observation,
    promise_of,
    promises_by_processes,
)
from synth.memory.judging import judge_with
from synth.requests import AUTO
from synth.worker import Limits


def sb(condition: str = "exists (0:r0 = 0 /\\ 1:r0 = 0)") -> LitmusTest:
    threads = [
        f"P{number} (atomic_int* x, atomic_int* y) {{ atomic_store_explicit({mine}, 1, memory_order_relaxed); "
        f"int r0 = atomic_load_explicit({other}, memory_order_relaxed); }}\n"
        for number, (mine, other) in enumerate(("xy", "yx"))
    ]
    return parse_litmus(f"C SB\n{{ x = 0; y = 0; }}\n{''.join(threads)}{condition}\n")


def observed(test: LitmusTest, counts: dict[tuple[int, ...], int], *models: str) -> Observation:
    terms = place(test).terms
    names, seen = tuple(map(spell, terms)), tuple(sorted(counts.items()))
    result = MemoryResult(
        test="SB",
        digest="00ff",
        backend="cpp",
        device="a device",
        instances=512,
        iterations=2,
        timeout=5.0,
        stress=False,
        terms=names,
        outcomes=seen,
        other=0,
        launches=2,
        hung=False,
    )
    asked = resolve_consistency_models(models) if models else []
    return observation("sb.litmus", test, result, {model.name: promise_of(test, model) for model in asked})


def test_rows_are_what_was_seen_and_what_is_allowed() -> None:
    seen = observed(sb(), {(0, 0): 7, (0, 1): 5}, "sc", "rc11")
    rows = [(row.values, row.count, row.asked, row.forbidden_by) for row in seen.rows]
    assert rows == [
        ((0, 0), 7, True, ("sc",)),
        ((0, 1), 5, False, ()),
        ((1, 0), 0, False, ()),
        ((1, 1), 0, False, ()),
    ]
    strong, weak = (model_report(model, [seen]) for model in ("sc", "rc11"))
    assert strong.forbidden == (("sb.litmus", (0, 0)),) and (strong.seen, strong.unseen) == (1, 2)
    assert weak.forbidden == () and (weak.seen, weak.unseen) == (2, 2)


def test_a_filter_is_part_of_what_is_asked_for() -> None:
    seen = observed(sb("filter (0:r0 = 0) exists (1:r0 = 1)"), {(0, 1): 1, (1, 1): 1}, "sc")
    assert [row.values for row in seen.rows if row.asked] == [(0, 1)]


def test_operational_models_list_their_outcomes_too() -> None:
    test = parse_litmus(
        "GPU_PTX t\n{ x=0; }\n T0 | T1 ;\n st.cg [x],1 | ld.cg r1,[x] ;\n"
        "ScopeTree(grid(cta(warp T0)) (cta(warp T1)))\nx: global\nexists (1:r1=1)\n"
    )
    (model,) = resolve_consistency_models(["thesis-weak"])
    assert promise_of(test, model).allowed == {(0,), (1,)}


def test_a_model_without_a_verdict_promises_nothing() -> None:
    (model,) = resolve_consistency_models(["thesis-weak"])
    unknown = promise_of(sb(), model)
    assert unknown.forbids_asked is None and "Sorensen 2013" in unknown.reason
    assert not unknown.forbids((9, 9), is_asked=True)
    seen = observed(sb(), {(0, 0): 7}, "thesis-weak", "sc")
    report = model_report("thesis-weak", [seen])
    assert (report.tests, report.unknown, report.forbidden) == (0, 1, ())
    assert report.reasons == {"sb.litmus": unknown.reason}


def test_beyond_loops_that_were_cut_nothing_is_forbidden() -> None:
    loop = parse_litmus(
        "C t\n{ x = 0; }\nP0 (atomic_int* x) { int r0 = 0; "
        "do { r0 = r0 + 1; } while (r0 < 9); atomic_store_explicit(x, r0, memory_order_relaxed); }\nexists (x = 9)\n"
    )
    (model,) = resolve_consistency_models(["sc"])
    bounded = promise_of(loop, model)
    assert bounded.forbids_asked is None and bounded.reason == CUT and not bounded.forbids((9,), is_asked=True)


RACY = """C MP
{ x = 0; y = 0; }
P0 (int* x, atomic_int* y) { *x = 1; atomic_store_explicit(y, 1, memory_order_release); }
P1 (int* x, atomic_int* y) {
  int r0 = atomic_load_explicit(y, memory_order_acquire);
  int r1 = *x;
}
"""


@pytest.mark.parametrize("condition", ["exists (1:r0=1 /\\ 1:r1=0)", "filter (1:r0=1) exists (1:r1=0)"])
def test_undefined_behaviour_forbids_nothing(condition: str) -> None:
    """The plain read races where the flag is still 0. A filter that leaves such executions out changes no program."""
    test = parse_litmus(RACY + condition)
    c11, sc = resolve_consistency_models(["c11", "sc"])
    assert judge_with(test, c11, AUTO, 2).answer is Answer.FORBIDDEN
    promise = promise_of(test, c11)
    assert (promise.forbids_asked, promise.reason) == (None, "data-race")
    assert promise_of(test, sc).forbids((1, 0), is_asked=True)
    seen = observed(test, {(1, 0): 7}, "c11", "sc")
    assert [row.forbidden_by for row in seen.rows if row.count] == [("sc",)]
    assert model_report("c11", [seen]).reasons == {"sb.litmus": "data-race"}


def test_of_very_many_executions_the_asked_outcome_is_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    models = resolve_consistency_models(["sc", "tso", "c11"])
    race = parse_litmus(RACY + "filter (1:r0=1) exists (1:r1=0)")
    listed = [promise_of(test, model) for test in (sb(), race) for model in models]
    monkeypatch.setattr("synth.memory.conformance.is_quick_to_list", lambda *_: False)
    asked = [promise_of(test, model) for test in (sb(), race) for model in models]
    assert [each.forbids_asked for each in asked] == [each.forbids_asked for each in listed]
    assert [each.reason for each in asked] == [each.reason for each in listed]
    assert (
        asked[0].allowed is None
        and asked[0].forbids((0, 0), is_asked=True)
        and not asked[0].forbids((9, 9), is_asked=False)
    )


def test_other_names_of_terms_and_another_order() -> None:
    test = sb()
    (sc,) = resolve_consistency_models(["sc"])
    result = observed(test, {(0, 0): 1, (0, 1): 1}).result
    swapped = replace(result, terms=result.terms[::-1], outcomes=(((0, 0), 1), ((1, 0), 1), ((1, 9), 1)))
    assert asked_outcomes(test, swapped) == {(0, 0)}
    assert forbidden_outcomes(test, swapped, {"sc": promise_of(test, sc)}) == {(0, 0): ("sc",), (1, 9): ("sc",)}
    other = replace(result, terms=("P0:r7", "P1:r0"))
    assert asked_outcomes(test, other) is None and forbidden_outcomes(test, other, {"sc": promise_of(test, sc)}) == {}


EXAMPLES = Path(__file__).parents[2] / "examples" / "memory"


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", ["sc", "c11", "ptx-6.0", "vulkan", "webgpu", "thesis-strong"])
def test_a_promise_agrees_with_a_verdict_on_each_outcome(name: str) -> None:
    """Each outcome is asked about by a test of its own: it is forbidden where that is the verdict, without a flag."""
    (model,) = resolve_consistency_models([name])
    compared = 0
    for file in sorted([*EXAMPLES.glob("c-*.litmus"), *EXAMPLES.glob("*-cta.litmus"), *EXAMPLES.glob("webgpu/*")]):
        if file.stem == "c-thin-air":
            continue  # any value may justify itself, and those are listed that the condition mentions
        test = parse_litmus(file.read_text(encoding="utf-8"), str(file))
        terms = outcome_terms(test)
        promise = promise_of(test, model)
        for values in sorted({*product((0, 1, 2), repeat=len(terms))})[:27]:
            equal = tuple(Atom("eq", term, value) for term, value in zip(terms, values, strict=True))
            asked = dataclasses.replace(test, condition=Condition(Quantifier.EXISTS, And(equal)))
            judgement = judge_with(asked, model, AUTO, 2)
            forbids = judgement.answer is Answer.FORBIDDEN and not judgement.flags and not judgement.provisional
            assert promise.forbids(values, is_asked_for(test, terms, values)) is forbids, (file.name, values)
            compared += 1
    assert compared > 200


def test_a_test_that_takes_too_long_is_promised_nothing_of() -> None:
    """It costs itself alone: what models promise of the tests around it is known."""
    threads = "".join(
        f"P{number} (atomic_int* x) {{ {'atomic_fetch_add_explicit(x, 1, memory_order_relaxed); ' * 4}}}\n"
        for number in range(4)
    )
    monster = parse_litmus(f"C monster\n{{ x = 0; }}\n{threads}exists (x = 3)\n")
    (sc,) = resolve_consistency_models(["sc"])
    first, large, last = promises_by_processes([(sb(), sc), (monster, sc), (sb(), sc)], 1, Limits(0.2, 4096))
    assert first == last == promise_of(sb(), sc)
    assert large.forbids_asked is None and large.reason == "judging it needs more than 0.2 s"
