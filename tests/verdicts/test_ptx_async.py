"""What the PTX ISA says of asynchronous operations: tests of ``examples/memory/ptx-async``, each with its section.

A row names a test, a reading of the ISA (none: what is promised under every reading) and a verdict on the stale read
that the test asks for. The right program forbids it; the same with a fence, a wait or an arrival less allows it.
"""

import csv
from pathlib import Path

import pytest
from commands import synth

from constraints.executions import judge_by_sat
from corpus.dialects.registry import DIALECTS, parse_litmus, read_litmus, translate
from corpus.litmus.instructions import AsyncOperation, Fence, Load, is_asynchronous
from corpus.litmus.locations import Loc, Location, Reg
from corpus.litmus.mbarrier import Mbarrier
from corpus.litmus.orders import COPIES, Place
from corpus.litmus.propositions import And, Atom, Condition, Quantifier
from corpus.litmus.test import LitmusTest
from corpus.litmus.threads import Thread
from oracle.cat.syntax import shipped_models
from oracle.consistency import load_model
from oracle.executions.judge import Answer, is_quick_to_list, judge

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples" / "memory" / "ptx-async"
READINGS = ROOT / "oracle" / "models" / "readings"
MODELS = {path.stem.removeprefix("ptx-async-"): load_model(str(path), path.stem) for path in READINGS.glob("*.cat")}
MODELS[""] = load_model(shipped_models()["ptx-async"], "ptx-async")

with Path(__file__).with_name("ptx_async.csv").open(encoding="utf-8", newline="") as file:
    TABLE = list(csv.DictReader(file))


@pytest.mark.parametrize("row", TABLE, ids=lambda row: f"{row['test']}-{row['reading'] or 'any'}")
def test_the_oracle_says_what_the_isa_says(row):
    test, model = read_litmus(EXAMPLES / f"{row['test']}.litmus"), MODELS[row["reading"]]
    found = [judge_by_sat(test, model)]
    if is_quick_to_list(test, model):
        found.append(judge(test, model))
    for judgement in found:
        assert judgement.answer == row["verdict"] and not judgement.provisional, row["source"]


def test_every_example_has_a_verdict_and_every_verdict_its_section():
    assert {row["test"] for row in TABLE} == {path.stem for path in EXAMPLES.glob("*.litmus")}
    assert len({(row["test"], row["reading"]) for row in TABLE}) == len(TABLE) >= 60
    assert all("PTX ISA 9.1, " in row["source"] or "Lustig" in row["source"] for row in TABLE)


LONG = (
    "acquires-all-phases",
    "bulk-in-order",
    "completes-everywhere",
    "completion-orders-reads",
    "fence-serves-all-ctas",
    "one-async-proxy",
    "one-way-is-cumulative",
)
"""Readings that take the longest, some ten seconds each."""


@pytest.mark.parametrize(
    "reading",
    [pytest.param(name, marks=[pytest.mark.slow] * (name in LONG)) for name in sorted(MODELS.keys() - {""})],
)
def test_a_reading_allows_no_more_than_is_allowed_without_it(reading):
    differing = []
    for path in sorted(EXAMPLES.glob("*.litmus")):
        test = read_litmus(path)
        strong, weak = (judge_by_sat(test, MODELS[each]).answer for each in (reading, ""))
        assert (strong, weak) != (Answer.ALLOWED, Answer.FORBIDDEN), path.stem
        differing += [path.stem] if strong != weak else []
    assert differing == [row["test"] for row in TABLE if row["reading"] == reading]


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.litmus")), ids=lambda path: path.stem)
def test_a_test_is_printed_as_it_is_read(path):
    test = read_litmus(path)
    text = translate(test, DIALECTS["ptx"])
    assert translate(parse_litmus(text), DIALECTS["ptx"]) == text


@pytest.mark.parametrize(
    ("name", "fair", "obe"),
    [
        ("bulk-load", "TERMINATES", "TERMINATES"),
        ("bulk-load-expect-less", "MAY_HANG", "MAY_HANG"),  # bytes that nobody brings, or too many
        ("bulk-load-no-expect", "TERMINATES", "TERMINATES"),
        ("cp-async-mbarrier", "TERMINATES", "TERMINATES"),
        ("mbarrier-remote", "TERMINATES", "MAY_HANG"),  # the thread that arrives need not have begun
    ],
)
def test_who_waits_at_an_mbarrier_waits_for_arrivals_and_bytes_and_copies_are_completed(name, fair, obe):
    assert labelled([name], "fair & ptx-async", "obe & ptx-async") == [fair, obe]


@pytest.mark.parametrize(
    ("name", "verdict"),
    [
        ("cluster-barrier", "TERMINATES"),
        ("cluster-barrier-twice", "TERMINATES"),
        ("cluster-barrier-no-arrival", "MAY_HANG"),
    ],
)
def test_who_waits_at_the_barrier_of_a_cluster_waits_for_all_arrivals(name, verdict):
    assert set(labelled([name], "fair & ptx", "hsa & ptx", "fair", "hsa")) == {verdict}


@pytest.mark.parametrize("name", ["tcgen05-mma-threads", "tcgen05-handshake"])
def test_a_product_is_completed_whatever_threads_do(name):
    assert labelled([name], "fair & ptx-async", "obe & ptx-async") == ["TERMINATES"] * 2


@pytest.mark.parametrize(
    "row", [row for row in TABLE if row["test"].startswith("cluster-barrier")], ids=lambda r: r["test"]
)
def test_barriers_of_clusters_are_as_in_ptx_where_nothing_is_asynchronous(row):
    test = read_litmus(EXAMPLES / f"{row['test']}.litmus")
    code = [ins for thread in test.threads for ins in thread.instructions]
    if any(is_asynchronous(ins) or (isinstance(ins, Fence) and "init" in ins.mode.tags) for ins in code):
        return
    model = load_model(shipped_models()["ptx"], "ptx")
    assert judge(test, model).answer == judge_by_sat(test, model).answer == row["verdict"]


def test_threads_that_take_turns_have_no_verdict_on_what_is_asynchronous():
    """A copy may be completed at any time, which is in nobody's turn; the phase of an mbarrier is as it is."""
    assert labelled(["bulk-load", "mbarrier"], "fair") == ["UNKNOWN"] * 2 + ["TERMINATES"] * 2


def labelled(names, *models):
    """The verdicts that synth label prints on tests."""
    options = [word for model in models for word in ("-m", model)]
    result = synth("label", *(EXAMPLES / f"{name}.litmus" for name in names), *options, "--format", "csv")
    return [row["verdict"] for row in csv.DictReader(result.stdout.splitlines())]


def test_the_mbarrier_of_an_arrival_may_be_read_from_memory():
    """The address decides which mbarrier has one more arrival pending, and which has it in the end."""
    arrival = AsyncOperation(None, barrier=Reg("r0"), mbarrier="arrive", count=1, group=COPIES)
    thread = Thread((Load("r0", Loc("p")), arrival), Place())
    start = Mbarrier(2, 2).bits()
    locations = (Location("p", Loc("n")), Location("m", start), Location("n", start))
    same = And(tuple(Atom("eq", Loc(name), start) for name in "mn"))
    test = LitmusTest("t", (thread,), locations, Condition(Quantifier.FORALL, same))
    assert judge(test, MODELS[""]).condition and judge_by_sat(test, MODELS[""]).condition
