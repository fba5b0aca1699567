"""What ``synth fix`` makes of tests of ``examples/memory/ptx-async`` that lack one fence of the async proxy, or have an
order or a scope at an mbarrier that is too weak (``ptx_async_repairs.csv``).

What lacks a wait, an arrival or the bytes that an mbarrier expects, or waits for one group less, is out of reach:
orders, scopes, fences and barriers make no thread wait for a copy.
"""

import csv
from pathlib import Path

import pytest

from constraints.executions import judge_by_sat
from corpus.dialects.registry import DIALECTS, read_litmus
from oracle.executions.judge import Answer
from synth.repair.costs import read_costs
from synth.repair.fixing import Fixing, RepairQuestion, model_named
from synth.repair.sites import Direction

EXAMPLES = Path(__file__).parents[2] / "examples" / "memory" / "ptx-async"
MODEL = model_named("ptx-async")

with Path(__file__).with_name("ptx_async_repairs.csv").open(encoding="utf-8", newline="") as file:
    TABLE = list(csv.DictReader(file))


def fixing(test, direction=Direction.STRONGER, allowed=("fences", "orders", "scopes", "barriers")):
    """The repairs of a test, where each wait succeeds at once."""
    asked = RepairQuestion(MODEL, 0, True, False)
    return Fixing([test], DIALECTS["ptx"], asked, read_costs("ptx"), direction, allowed)


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row["test"])
def test_the_cheapest_repair(row):
    test = read_litmus(EXAMPLES / f"{row['test']}.litmus")
    assert judge_by_sat(test, MODEL).answer is Answer.ALLOWED
    with fixing(test) as found:
        repair = next(iter(found))
    assert "; ".join(change.text for change in repair.changes) in row["repair"].split("|"), "of equal cost"
    assert all(change.cut is not None for change in repair.changes), "each change is needed"
    assert judge_by_sat(repair.tests[0], MODEL).answer is Answer.FORBIDDEN


def test_what_an_mbarrier_need_not_order():
    """To weaken a test that is right: its orders and its fence of the proxy stay, for each is needed."""
    with fixing(read_litmus(EXAMPLES / "mbarrier.litmus"), Direction.WEAKER) as found:
        kept = [change.text for change in next(iter(found)).kept]
    assert any("mbarrier.arrive.release.cta" in text for text in kept)
    assert any("mbarrier.test_wait.parity.acquire.cta" in text for text in kept)
