"""Outcomes of memory tests beside what models say of them."""

from __future__ import annotations

from backends.shared.layout import place
from backends.shared.results import MemoryResult
from corpus.dialects.registry import parse_litmus
from corpus.litmus.condition import spell
from corpus.litmus.test import LitmusTest
from oracle.consistency import resolve_consistency_models
from synth.memory.conformance import Observation, allowed_outcomes, model_report, observation


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
    return observation("sb.litmus", test, terms, result, resolve_consistency_models(models))


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
    assert allowed_outcomes(test, place(test).terms, model).outcomes == {(0,), (1,)}


def test_what_a_model_cannot_tell_is_forbidden_by_none() -> None:
    (model,) = resolve_consistency_models(["thesis-weak"])
    test = sb()
    unknown = allowed_outcomes(test, place(test).terms, model)
    assert unknown.outcomes is None and unknown.reason and not unknown.forbids((9, 9))
    loop = parse_litmus(
        "C t\n{ x = 0; }\nP0 (atomic_int* x) { int r0 = 0; "
        "do { r0 = r0 + 1; } while (r0 < 9); atomic_store_explicit(x, r0, memory_order_relaxed); }\nexists (x = 9)\n"
    )
    (model,) = resolve_consistency_models(["sc"])
    bounded = allowed_outcomes(loop, place(loop).terms, model)
    assert bounded.bounded and not bounded.forbids((9,))
