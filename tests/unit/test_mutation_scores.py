"""Kill rates, mutation scores and confidences of results whose figures are worked out by hand."""

from __future__ import annotations

from math import exp, inf, log
from pathlib import Path

import pytest
from msgspec.structs import replace as with_fields
from mutant_suites import FINE, LINKED, SEEN, SERIAL, TESTS, WEAK, result, write_suite

from backends.shared.results import MemoryFailure, trial_of
from corpus.errors import InputError
from corpus.links import LINKS, MUTANTS
from oracle.serial import Takes
from synth.mutation.kills import KillCounts, MutantSuite, observed, read_observed, read_suite
from synth.mutation.scores import Score, best_of, keys, machines, score, scores_by, trust
from synth.requests import SelectionFilter, parse_filter

MUTANTS_THERE = {mutant.name: mutant for mutant in (WEAK, FINE, SERIAL)}


def suite(path=Path("suite"), all_count=False):
    return MutantSuite(path, tuple(TESTS), MUTANTS_THERE, tuple(LINKED), all_count)


def scored(all_count=False):
    made = suite(all_count=all_count)
    found = observed(made, SEEN)
    return made, found, *found.values()


def test_what_the_outcomes_of_mutants_take():
    assert suite().takes == {"A.m1": Takes.WEAK_MEMORY, "A.m2": Takes.INTERLEAVING, "A.m3": Takes.SERIAL}
    assert [link.mutant for link in suite().counted["A"]] == ["A.m1", "A.m2"]
    assert suite().counted["C"] == () and len(suite(all_count=True).counted["C"]) == 1


def test_kill_rates():
    _, _, plain, stress = scored()
    assert plain["A.m1"] == KillCounts(40, 20, pytest.approx(2.0)) and plain["A.m1"].rate == pytest.approx(20.0)
    assert plain["A.m2"].rate == 0 and stress["A.m2"].rate == pytest.approx(3.0)
    assert "B" not in plain


def test_mutation_scores():
    made, found, plain, stress = scored()
    every = list(MUTANTS_THERE)
    assert score(["A.m1", "A.m2"], plain) == Score(2, 2, 1, pytest.approx(10.0))
    assert score(["A.m1", "A.m2"], stress).share == 1.0
    assert score(["A.m1", "A.m2", "A.m2"], best_of(found)) == Score(2, 2, 2, pytest.approx(11.5))
    assert score(every, plain).share == pytest.approx(2 / 3)
    assert score(["A.m9"], plain) == Score(1, 0, 0, None) and score(["A.m9"], plain).share is None
    groups = {title: scores_by(made, plain, key) for title, key in keys(made).items()}
    assert groups["axiom"] == {"causality": Score(2, 2, 1, pytest.approx(10.0))}
    assert groups["outcome takes"]["weak memory"].share == 1 and groups["outcome takes"]["interleaving"].share == 0
    assert {name: each.killed for name, each in groups["relaxation of"].items()} == {
        "instruction": 1,
        "order": 0,
        "scope": 0,
    }


def test_confidence_in_what_was_run():
    made, found, *_ = scored()
    (machine,) = machines(found)
    a, b, c = trust(made, found, machine)
    assert (a.mutants, a.run, a.killed, a.best.link.mutant, a.best.environment.stress) == (2, 2, 2, "A.m1", False)
    assert a.mean_rate == pytest.approx(10.0) and a.seconds == pytest.approx(1.1)
    assert a.confidence == pytest.approx(1 - exp(-4))  # A.m1: 20/s for 0.1 s and 2/s for 1 s; A.m2: 3/s for 1 s
    assert a.confidence_in(0.1) == pytest.approx(1 - exp(-2)) and a.seconds_for(0.95) == pytest.approx(log(20) / 20)
    low, high = a.best.interval
    assert (low, high) == (pytest.approx(28.577 / 2, rel=1e-4), pytest.approx(54.469 / 2, rel=1e-4))
    assert a.at_least == pytest.approx(1 - exp(-(28.577 / 2 * 0.1 + 2.2019 / 3 * 1)), rel=1e-4)
    assert (b.mutants, b.killed, b.seconds, b.confidence) == (1, 1, 0, 0) and b.seconds_for(0.95) == pytest.approx(
        log(20) / 3
    )
    assert (c.mutants, c.best, c.confidence, c.seconds_for(0.95)) == (0, None, 0, inf)


def test_serial_mutants_count_where_that_is_asked_for():
    made, found, *_ = scored(all_count=True)
    a, _, c = trust(made, found, machines(found)[0])
    assert a.best.rate == c.best.rate == pytest.approx(500.0) and c.mutants == 1


def test_numbers_of_launches_are_summed_up_and_the_last_line_of_a_trial_counts():
    made = suite()
    entries = [
        (result(WEAK, 1), (1.0,)),
        (result(WEAK, 3), (2.0,)),
        (result(WEAK, 5, launches=40), (3.0,)),
        (MemoryFailure(error="gone", **{n: getattr(trial_of(result(FINE, 0)), n) for n in FIELDS}), ()),
    ]
    (seen,) = observed(made, entries).values()
    assert seen == {"A.m1": KillCounts(8, 60, pytest.approx(5.0))}


FIELDS = trial_of(result(FINE, 0)).__struct_fields__


def test_devices_drivers_and_ways_to_launch_are_environments_of_their_own():
    others = [
        result(WEAK, 1, device="another"),
        with_fields(result(WEAK, 1), driver="2.0"),
        with_fields(result(WEAK, 1), profile="tuned"),
        with_fields(result(WEAK, 1), instances=1024),
    ]
    found = observed(suite(), [(each, (1.0,)) for each in (result(WEAK, 1), *others)])
    assert len(found) == 5 and len(machines(found)) == 3


def test_without_times_there_are_kills_and_no_rates():
    (seen,) = observed(suite(), [(result(WEAK, 4), ())]).values()
    assert seen["A.m1"] == KillCounts(4, 20, None) and seen["A.m1"].rate is None
    assert score(["A.m1"], seen) == Score(1, 1, 1, None)
    timed = observed(suite(), [(result(WEAK, 4), ()), (result(WEAK, 4, launches=5), (1.0,))])
    assert next(iter(timed.values()))["A.m1"].seconds is None


def test_terms_in_another_order_are_read_by_name():
    swapped = with_fields(result(FINE, 0), terms=("P1:r1", "P1:r0"), outcomes=(((0, 1), 5), ((1, 0), 2)))
    (seen,) = observed(suite(), [(swapped, (1.0,))]).values()
    assert seen["A.m2"].count == 2  # r0 is 0 and r1 is 1
    other = with_fields(result(FINE, 0), terms=("P1:r7", "P1:r0"), outcomes=(((0, 1), 5),))
    assert observed(suite(), [(other, (1.0,))]) == {}


def test_a_suite_and_its_results_are_read(tmp_path):
    folder = write_suite(tmp_path / "suite")
    made = read_suite(folder, SelectionFilter())
    assert read_observed(made, [folder / "results.jsonl"]) == scored()[1]
    chosen = read_suite(folder, SelectionFilter((parse_filter("B"),)))
    assert [link.test for link in chosen.links] == ["B"] and list(chosen.mutants) == ["A.m2"]


def test_a_link_that_leads_nowhere_is_told(tmp_path):
    folder = write_suite(tmp_path / "suite")
    (folder / MUTANTS / LINKS).write_text("test,mutant,relaxation,kind\nA,A.m9,removed,order\n")
    with pytest.raises(InputError, match=r"no test has the name 'A\.m9'"):
        read_suite(folder, SelectionFilter())
