"""``synth run --known``: which failures a run is forgiven, what is told of them, and which tables are refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from refusals import refusal

from synth.junit import Case, CaseOutcome
from synth.known import KnownFailures, read_known

PLAIN, CHUNKED = "opencl.PoCL (cpu [2]).3.1.plain", "opencl.PoCL (cpu [2]).3.1.chunked"
HUNG = Case("2x2-0006", CaseOutcome.FAILURE, "it hung")
SUITES = {
    PLAIN: [HUNG, Case("2x2-0007"), Case("2x2-0008", CaseOutcome.SKIPPED, "it was not run")],
    CHUNKED: [HUNG, Case("2x2-0009", CaseOutcome.ERROR, "no such device")],
}


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def known(*lines: str) -> KnownFailures:
    Path("k.csv").write_text("\n".join(["test,where,reason", *lines, ""]))
    return read_known(Path("k.csv"))


def endings(suites: dict[str, list[Case]]) -> list[CaseOutcome]:
    return [case.ending for cases in suites.values() for case in cases]


def test_a_run_fails_by_what_is_not_known():
    apart = known("2x2-0006,*.plain,bug 4711").set_apart(SUITES)
    assert apart.new
    assert endings(apart.suites) == [
        CaseOutcome.SKIPPED,
        CaseOutcome.PASSED,
        CaseOutcome.SKIPPED,
        CaseOutcome.FAILURE,
        CaseOutcome.ERROR,
    ]
    assert apart.suites[PLAIN][0].message == "known failure, bug 4711: it hung"
    assert list(apart.lines) == [
        f"known: 2x2-0006 ({PLAIN}): it hung; k.csv:2, bug 4711",
        f"2x2-0006 ({CHUNKED}): it hung",
        f"2x2-0009 ({CHUNKED}): no such device",
        "k.csv: 2 new failures, 1 known; of 1 lines 0 were not seen",
    ]


def test_a_run_of_known_failures_alone_succeeds():
    apart = known("2x2-0006,,", f"2x2-0009,{CHUNKED.replace('[', '[[]')},").set_apart(SUITES)
    assert not apart.new and set(endings(apart.suites)) == {CaseOutcome.SKIPPED, CaseOutcome.PASSED}
    assert apart.lines[-1] == "k.csv: 0 new failures, 3 known; of 2 lines 0 were not seen"


def test_a_known_failure_that_is_gone_is_told_and_one_that_was_not_run_is_counted():
    apart = known("2x2-0007,,bug 1", "2x2-0008,,", "elsewhere,,", "2x2-0006,,", "2x2-0009,,").set_apart(SUITES)
    assert not apart.new
    assert list(apart.lines[3:]) == [
        "2x2-0007: its known failure was not seen; k.csv:2, bug 1",
        "k.csv: 0 new failures, 3 known; of 5 lines 1 were not seen, and the tests of 2 were not run",
    ]


def test_columns_may_be_left_out():
    Path("k.csv").write_text("test\n2x2-0006\n2x2-0009\n")
    assert not read_known(Path("k.csv")).set_apart(SUITES).new


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "k.csv:1:1: expected the columns test,where,reason"),
        ("name\na\n", "k.csv:1:1: expected the columns"),
        ("test,reason\na,b\n", "k.csv:1:1: expected the columns"),
        ("test,where,reason\na\n", "k.csv:2:1: expected a test and 3 cells, found 1"),
        ("test,where,reason\n,b,c\n", "k.csv:2:1: expected a test"),
    ],
)
def test_another_table_is_refused(text, message):
    Path("k.csv").write_text(text)
    assert refusal(read_known, Path("k.csv")).startswith(message)
