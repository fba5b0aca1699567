"""Plans for results whose figures are worked out by hand, against every plan, and the commands."""

from __future__ import annotations

import json
from itertools import chain, combinations
from pathlib import Path

import pytest
from commands import synth
from hypothesis import given, settings
from hypothesis import strategies as st
from mutant_suites import FINE, LINKED, SEEN, SERIAL, TESTS, WEAK, result, write_results, write_suite

from corpus.journal import read_corpus
from synth.mutation.kills import MutantSuite, observed
from synth.mutation.plans import PLAN, plan, ways
from synth.mutation.records import percent, rate, span

SUITE = MutantSuite(
    Path("suite"), tuple(TESTS), {mutant.name: mutant for mutant in (WEAK, FINE, SERIAL)}, tuple(LINKED)
)


def planned(budget, confidence=0.95, seen=SEEN, **given):
    found = plan(SUITE, observed(SUITE, seen), budget, confidence, **given)
    return found, [(run.test.name, run.environment.stress, run.launches, run.cost) for run in found.runs]


PLAIN, STRESSED, OTHER = ("A", False, 30, 150), ("A", True, 20, 1000), ("B", True, 7, 1050)
"""A's launches take 5 ms, and with stress 50 ms; those of B, which was not run, 150 ms as its mutants' do.

ln 20 / 20 s are 30 launches of A for A.m1; ln 20 / 3 s are 20 with stress for A.m2, and 7 of B.
"""


@pytest.mark.parametrize(
    ("budget", "runs", "trusted", "seen"),
    [
        (0.149, [], 0, 0),
        (0.15, [PLAIN], 1, 1),
        (1.149, [PLAIN], 1, 1),
        (1.15, [PLAIN, STRESSED], 1, 2),
        (1.2, [PLAIN, OTHER], 2, 2),
        (2.2, [PLAIN, STRESSED, OTHER], 2, 3),
        (100, [PLAIN, STRESSED, OTHER], 2, 3),
    ],
)
def test_what_a_budget_buys(budget, runs, trusted, seen):
    found, chosen = planned(budget)
    assert chosen == runs and found.optimal
    assert (found.trusted, found.possible, found.tests, found.seen, found.bugs) == (trusted, 2, 3, seen, 3)
    assert found.cost == sum(cost for *_, cost in runs)
    assert all(run.confidence >= 0.95 for run in found.runs)


def test_compiling_and_starting_cost_too():
    assert planned(0.649, overhead=0.5)[1] == [] and planned(0.65, overhead=0.5)[1] == [("A", False, 30, 650)]


def test_who_wants_to_be_sure_runs_longer():
    """A.m1 was seen 40 times in 2 s, at least 28.577 times: 2 ln 20 / 28.577 s are 42 launches."""
    assert planned(0.22, sure=True)[1] == [("A", False, 42, 210)]


def test_where_no_times_are_known_nothing_is_planned():
    found, chosen = planned(10, seen=[(each, ()) for each, _ in SEEN])
    assert chosen == [] and found.possible == 0


seconds = st.sampled_from([0.5, 1.0, 4.0])
runs_of_mutants = st.lists(
    st.tuples(st.sampled_from([WEAK, FINE]), st.integers(0, 9), st.booleans(), seconds),
    max_size=5,
    unique_by=lambda each: (each[0].name, each[2]),
)


@settings(max_examples=25, deadline=None)
@given(runs_of_mutants, st.integers(0, 60), st.sampled_from([0.5, 0.95]))
def test_no_plan_is_better(mutants, tenths, confidence):
    seen = [(result(mutant, count, stress), (time,)) for mutant, count, stress, time in mutants]
    there = observed(SUITE, seen)
    every = list(ways(SUITE, there, confidence))
    best = (0, 0, 0)
    for chosen in chain.from_iterable(combinations(every, size) for size in range(len(every) + 1)):
        cost = sum(run.cost for run in chosen)
        if cost <= 100 * tenths:
            bugs = {(run.test.name, bug.link.mutant) for run in chosen for bug in run.bugs}
            best = max(best, (len({test for test, _ in bugs}), len(bugs), -cost))
    found, _ = planned(tenths / 10, confidence, seen)
    assert (found.trusted, found.seen, -found.cost) == best and found.optimal


# Commands


def test_scores_are_shown(tmp_path):
    folder = write_suite(tmp_path / "suite")
    shown = synth("score", folder, "--budget", "0.1", "--tests", "--mutants")
    assert shown.exit_code == 0, shown.output
    words = " ".join(shown.stdout.split())
    assert "3 tests, 2 mutants; 1 serial ones do not count" in words
    assert "plain, 512 instances 2 2 1 50 % 10" in words and "any of them 2 2 2 100 % 11.5" in words
    assert "A A.m1 plain, 512 instances 2 / 2 20 10 1.1 s 98.1 % 88.4 % 86.4 % 150 ms 576 ms" in words
    assert "1 of 3 tests ran so long" in words and "0 of them would in 100 ms each" in words
    assert "1 with no mutant that counts: C" in words


def test_scores_are_data(tmp_path):
    folder = write_suite(tmp_path / "suite")
    found = json.loads(synth("score", folder, "--json", "--budget", "4").stdout)
    assert [(each["stress"], each["score"]) for each in found["environments"]] == [(False, 0.5), (True, 1.0)]
    assert found["environments"][0]["kills"]["A.m1"] == {
        "kills": 40,
        "launches": 20,
        "seconds": pytest.approx(2.0),
        "rate": pytest.approx(20.0),
    }
    a, b, c = found["machines"][0]["tests"]
    assert a["best"]["mutant"] == "A.m1" and a["best"]["relaxation"] == "P0's fence: removed"
    assert b["seconds_for"]["0.95"] == pytest.approx(0.99858, abs=1e-5) and c["seconds_for"]["0.95"] is None
    assert found["mutants"]["A.m3"] == {"takes": "serial", "counts": False}


def test_results_of_several_files_are_put_together(tmp_path):
    folder = write_suite(tmp_path / "suite")
    write_results(tmp_path / "phone.jsonl", [(result(WEAK, 9, device="phone"), (1.0,))])
    found = json.loads(synth("score", folder, folder / "results.jsonl", tmp_path / "phone.jsonl", "--json").stdout)
    assert [(each["device"], each["run"]) for each in found["machines"]] == [("phone", 1), ("toy", 2)]


def test_a_plan_is_written_with_its_tests(tmp_path):
    folder = write_suite(tmp_path / "suite")
    shown = synth("select", folder, "--score", "--budget", 1.2, "-o", tmp_path / "ci")
    assert shown.exit_code == 0, shown.output
    assert "2 of 3 tests see a bug, 2 of 3 bugs are seen, in 1.2 s of 1.2 s" in shown.stdout
    chosen = read_corpus(tmp_path / "ci")
    assert [test.name for test in chosen.tests] == ["A", "B"] and chosen.complete
    written = json.loads((tmp_path / "ci" / PLAN).read_text())
    assert [(run["test"], run["stress"], run["iterations"]) for run in written["runs"]] == [
        ("A", False, 30),
        ("B", True, 7),
    ]
    assert written == json.loads(synth("select", folder, "--score", "--budget", 1.2, "--json").stdout)
    again = synth("select", folder, "--score", "--budget", 1.2, "-o", tmp_path / "ci2")
    assert again.exit_code == 0 and (tmp_path / "ci2" / PLAN).read_bytes() == (tmp_path / "ci" / PLAN).read_bytes()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["select", "suite"], "give either --separate-models or --score"),
        (["select", "suite", "--score", "--separate-models"], "give either --separate-models or --score"),
        (["select", "suite", "--score"], "--score needs --budget"),
        (["select", "suite", "results.jsonl", "--separate-models"], "RESULTS need --score"),
        (["select", "suite", "--score", "--budget", "0"], "--budget"),
        (["score", "suite/mutants"], "suite/mutants: the suite has no mutants; synth memory --mutants makes them"),
        (["score", "suite", "gone.jsonl"], "gone.jsonl: cannot read"),
        (["select", "suite", "--score", "--budget", "60", "--confidence", "1"], "--confidence"),
        (["score", "suite", "tests.jsonl"], "tests.jsonl: no result of a mutant of suite that counts"),
        (["select", "suite", "tests.jsonl", "--score", "--budget", "60"], "no result of a mutant of suite that counts"),
        (["score", "suite", "serial.jsonl"], "no result of a mutant of suite that counts"),
        (["select", "suite", "--score", "--budget", "0.1"], "fits into 100 ms: the shortest takes 150 ms"),
        (["select", "suite", "unkilled.jsonl", "--score", "--budget", "60"], "nothing to plan: no mutant was killed"),
    ],
)
def test_misuse_is_one_line(tmp_path, monkeypatch, words, message):
    write_suite(tmp_path / "suite")
    write_results(tmp_path / "tests.jsonl", [(result(TESTS[0], 0), (0.1,) * 20)])
    write_results(tmp_path / "serial.jsonl", [(result(SERIAL, 9), (0.1,) * 20)])
    write_results(tmp_path / "unkilled.jsonl", [(result(WEAK, 0), (0.1,) * 20)])
    monkeypatch.chdir(tmp_path)
    told = synth(*words)
    assert told.exit_code == 2 and message in told.stderr and len(told.stderr.splitlines()) == 1


def test_shards_are_put_together_with_their_mutants(tmp_path):
    """What two machines ran of a suite and its mutants, imported with the suite, gives the score of the whole."""
    folder = write_suite(tmp_path / "suite")
    whole = json.loads(synth("score", folder, "--json").stdout)
    every = [tmp_path / "one.jsonl", tmp_path / "two.jsonl"]
    for number, path in enumerate(every):
        write_results(path, SEEN[number::2])
    told = synth("import", *every, "--suite", folder, "-o", tmp_path / "all.jsonl")
    assert told.exit_code == 0 and f"{len(SEEN)} results" in told.stderr
    assert json.loads(synth("score", folder, tmp_path / "all.jsonl", "--json").stdout) == whole
    told = synth("import", *every, "--suite", folder, "--where", "B", "-o", tmp_path / "b.jsonl")
    assert told.exit_code == 1 and "A.m1: the suite has no such test" in told.stderr
    assert "A.m2" not in told.stderr  # a mutant of B, too


def test_a_test_that_was_seen_names_the_models_that_forbid_it(tmp_path):
    """SC forbids the outcome of message passing, and so it does in a suite that a model was asked about again."""
    folder = write_suite(tmp_path / "suite")
    write_results(tmp_path / "more.jsonl", [*SEEN, (result(TESTS[1], 3), (0.1,) * 20)])
    told = synth("score", folder, tmp_path / "more.jsonl")
    assert "B: seen 3 times, which sc forbids" in told.stdout
    found = json.loads(synth("score", folder, tmp_path / "more.jsonl", "--json").stdout)
    seen = {test["test"]: test["contradicts"] for test in found["machines"][0]["tests"]}
    assert seen == {"A": [], "B": ["sc"], "C": []}


def test_words_for_numbers():
    assert [percent(share) for share in (0, 0.5, 0.12345, 0.99, 0.99999, 0.999999, 1, None)] == [
        "0 %", "50 %", "12.3 %", "99 %", "99.999 %", "99.999 %", "100 %", "-",
    ]  # fmt: skip
    assert [span(time) for time in (0.0004, 0.15, 1, 119, 150, 7200, float("inf"), None)] == [
        "0.4 ms", "150 ms", "1 s", "119 s", "2.5 min", "2 h", "never", "?",
    ]  # fmt: skip
    assert [rate(number) for number in (0, 0.01234, 12.34, 123456.7, None)] == ["0", "0.0123", "12.3", "123,457", "?"]
