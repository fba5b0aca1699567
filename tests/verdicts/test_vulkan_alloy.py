"""What the authors of the Vulkan memory model expect of their own tests (KhronosGroup/Vulkan-MemoryModel, alloy/tests).

A row is one test, under implementations with availability and visibility chains of several elements or without such:
its threads, each with the number of its subgroup, workgroup and queue family, which references are to one location,
which threads synchronise by the system, and what its reads read, where the test says so. ``free`` and ``racing`` are
whether there is a consistent execution of that without a data race, and with one; empty where the test does not say.

Left out: how many release sequences an execution has (``releaseseq1``, ``releaseseq2``), and two tests in which a
control barrier reaches threads of other workgroups, which the execution scope of a shader cannot (``test6``,
``scopeaccum``). The tests are by the Khronos Group, under CC BY 4.0; here they are in the words of our dialect.
"""

import csv
import re
from functools import reduce
from operator import or_
from pathlib import Path

import pytest

from corpus.dialects.registry import parse_litmus
from oracle.consistency import resolve_consistency_models
from oracle.executions.bounds import UNROLL
from oracle.executions.judge import judged
from oracle.executions.threads import unroll_threads

HERE = Path(__file__).parent
with (HERE / "vulkan_alloy.csv").open(encoding="utf-8", newline="") as file:
    TABLE = list(csv.DictReader(file))
PATHS = {"yes": "vulkan", "no": str(HERE.parents[1] / "examples" / "models" / "vulkan-nochains.cat")}
MODELS = {chains: resolve_consistency_models([path])[0] for chains, path in PATHS.items()}


def written(row):
    """The test of a row."""
    heads, columns = [], []
    for number, thread in enumerate(row["threads"].split(" | ")):
        place, _, body = thread.partition(": ")
        subgroup, workgroup, family = place.split(".")
        heads.append(f"P{number}@sg {subgroup},wg {workgroup},qf {family}")
        columns.append(body.split("; "))
    lines = [
        " | ".join(column[line] if line < len(column) else "" for column in columns)
        for line in range(max(map(len, columns)))
    ]
    aliases = dict(reversed(pair.split("=")) for pair in row["aliases"].split())
    names = sorted(set(re.findall(r"\b[a-z]\b", row["threads"])))
    state = [f"{name} aliases {aliases[name]};" if name in aliases else f"{name}=0;" for name in names]
    pairs = "".join(f"ssw {pair.replace('-', ' ')}; " for pair in row["synchronised"].split())
    text = ["VULKAN t", f"{{ {' '.join(state)} }}", *([f"{{ {pairs}}}"] if pairs else [])]
    text += [f"{line} ;" for line in (" | ".join(heads), *lines)]
    return parse_litmus("\n".join([*text, f"exists ({row['asked'] or 'true'})"]))


def executions(test, model):
    """Whether the model allows an execution with the outcome that has no data race, and one that has."""
    free = racing = False
    for batch, allowed, results in judged(test, unroll_threads(test, UNROLL), model):
        asked = batch.satisfying(test.condition.proposition) & allowed
        race = reduce(or_, (result.truth for result in results if result.check.name == "data-race"), 0)
        free, racing = free or bool(asked & ~race), racing or bool(asked & race)
    return {"free": free, "racing": racing}


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row["test"] + ("" if row["chains"] == "yes" else "-nochains"))
def test_executions_are_what_the_authors_say(row):
    found = executions(written(row), MODELS[row["chains"]].model)
    stated = {side: row[side] == "yes" for side in found if row[side]}
    assert stated and {side: found[side] for side in stated} == stated


def test_the_table_has_all_that_they_state():
    assert len({row["test"] for row in TABLE}) == 87 and len(TABLE) == len(
        {(row["test"], row["chains"]) for row in TABLE}
    )
    assert sum(row[side] != "" for row in TABLE for side in ("free", "racing")) == 175
