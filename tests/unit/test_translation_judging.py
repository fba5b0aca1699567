"""The judgement of a translation: verdicts on pairs of programs, and outcomes by a solver against listed ones."""

from collections import Counter
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from constraints.outcomes import outcomes_by_sat
from corpus.dialects.registry import parse_litmus, read_litmus
from corpus.errors import InputError
from corpus.litmus.normal import map_modes
from corpus.litmus.orders import Order, Scope
from oracle.consistency import resolve_consistency_models
from oracle.executions.judge import outcomes_and_flags
from synth.requests import ENUMERATE, SAT
from synth.translation.judging import (
    AllowedOutcomes,
    TranslationVerdict,
    asking_for,
    common_terms,
    compared_outcomes,
    judge_translation,
    observing,
    outcome_text,
)

MEMORY = Path("examples/memory")

MP = """C MP
{{ }}
P0 (int* x, atomic_int* y) {{
  {write}
  atomic_store_explicit(y, 1, memory_order_{release});
}}
P1 (int* x, atomic_int* y) {{
  int r0 = atomic_load_explicit(y, memory_order_{acquire});
  int r1 = {read};
}}
exists (1:r0 = 1 /\\ 1:r1 = 0)
"""
ATOMIC = ("atomic_store_explicit(x, 1, memory_order_relaxed);", "atomic_load_explicit(x, memory_order_relaxed)")


def mp(release, acquire, plain=False):
    write, read = ("*x = 1;", "*x") if plain else ATOMIC
    return parse_litmus(MP.format(write=write, read=read, release=release, acquire=acquire))


def models(before, after):
    return tuple(
        resolve_consistency_models([before, after]) if before != after else [*resolve_consistency_models([before])] * 2
    )


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [
        (mp("release", "acquire"), mp("release", "acquire"), "SAME"),
        (mp("relaxed", "acquire"), mp("release", "acquire"), "STRONGER"),
        (mp("release", "acquire"), mp("release", "relaxed"), "WEAKER"),
        (mp("release", "acquire"), mp("relaxed", "acquire"), "WEAKER"),
        (mp("relaxed", "relaxed", plain=True), mp("relaxed", "relaxed"), "UNDEFINED"),
        (mp("relaxed", "relaxed"), mp("relaxed", "relaxed", plain=True), "WEAKER"),
    ],
)
def test_verdicts_on_message_passing(before, after, verdict):
    for method in (ENUMERATE, SAT):
        assert judge_translation(before, after, models("rc11", "rc11"), method).verdict == verdict


def test_what_a_weaker_translation_adds():
    judged = judge_translation(mp("release", "acquire"), mp("release", "relaxed"), models("rc11", "rc11"))
    assert [outcome_text(each) for each in judged.added] == ["P1:r0=1 P1:r1=0"]
    assert (judged.before, judged.after, judged.lost) == (3, 4, ())


def test_each_side_has_its_own_model():
    """A program of SB without fences is the same under x86 and weaker than under SC."""
    sb = read_litmus(MEMORY / "c-sb-rel-acq.litmus")
    assert judge_translation(sb, sb, models("sc", "tso")).verdict == TranslationVerdict.WEAKER
    assert judge_translation(sb, sb, models("tso", "sc")).verdict == TranslationVerdict.STRONGER


def test_only_what_both_observe_is_compared():
    before = mp("release", "acquire")
    after = observing(mp("relaxed", "relaxed"), [*common_terms(before, before)][:1])
    judged = judge_translation(before, after, models("rc11", "rc11"))
    assert (judged.verdict, len(judged.terms)) == ("SAME", 1)
    with pytest.raises(InputError, match="observe no register or location of one name"):
        judge_translation(before, observing(before, ()), models("rc11", "rc11"))


def test_a_model_that_does_not_speak_of_a_side():
    """PTX has no sequentially consistent accesses: such a program is none of the model's."""
    sb = read_litmus(MEMORY / "c-sb-sc.litmus")
    judged = judge_translation(sb, sb, models("rc11", "ptx"))
    assert (judged.verdict, judged.reason) == ("NOT_READ", "after: no-sc-accesses-in-ptx")


def test_cut_loops():
    """An outcome that a cut program lacks may come about beyond; a cut translation may have others beyond."""
    one, other = frozenset({((1, 1),)}), frozenset({((1, 2),)})
    cut, whole = AllowedOutcomes(one, cut=True), AllowedOutcomes(one | other)
    assert compared_outcomes(cut, whole).verdict == "UNKNOWN"
    judged = compared_outcomes(whole, cut)
    assert (judged.verdict, judged.provisional) == ("STRONGER", True)


def test_what_is_asked_of_an_added_outcome_is_allowed():
    after = mp("release", "relaxed")
    judged = judge_translation(mp("release", "acquire"), after, models("rc11", "rc11"))
    (model,) = resolve_consistency_models(["rc11"])
    assert model.judge(asking_for(after, judged.added[0])).answer == "ALLOWED"


C_TESTS = sorted(path for path in MEMORY.glob("c-*.litmus") if path.stem not in ("c-thin-air",))
PTX_TESTS = sorted(MEMORY.glob("mp-*.litmus")) + sorted(MEMORY.glob("*-acq*.litmus"))
ORDERS = {
    "relaxed": lambda mode: replace(mode, order=Order.RELAXED) if mode.order is not Order.WEAK else mode,
    "scope": lambda mode: replace(mode, scope=Scope.CTA) if mode.scope else mode,
    "same": lambda mode: mode,
}


@pytest.mark.parametrize("model", ["rc11", "ptx", "sc"])
def test_outcomes_by_a_solver_are_those_that_are_listed(model):
    """Of every example with each of three changes to its modes, all terms observed: outcomes and flags."""
    (judge,) = resolve_consistency_models([model])
    compared = 0
    for path, change in product(C_TESTS if model == "rc11" else PTX_TESTS, ORDERS.values()):
        test = map_modes(read_litmus(path), change)
        listed = outcomes_and_flags(test, judge.model)
        found, flags = outcomes_by_sat(test, judge.model)
        assert (found, set(flags)) == (listed[0], set(listed[1])), path
        compared += 1
    assert compared > 50


@pytest.mark.parametrize(("model", "paths"), [("rc11", C_TESTS), ("ptx", PTX_TESTS)])
def test_both_methods_give_one_verdict_on_hundreds_of_pairs(model, paths):
    """Each example with its modes changed in one way, translated to itself changed in another way."""
    asked, seen = models(model, model), Counter()
    for path, (before, after) in product(paths, product(ORDERS, repeat=2)):
        test = read_litmus(path)
        sides = [map_modes(test, ORDERS[name]) for name in (before, after)]
        listed = judge_translation(*sides, asked, ENUMERATE)
        assert judge_translation(*sides, asked, SAT) == listed, (path, before, after)
        seen[str(listed.verdict)] += 1
    assert sum(seen.values()) > 150
    assert {"SAME", "STRONGER", "WEAKER"} <= {*seen}
