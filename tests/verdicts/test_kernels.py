"""What is said of the kernels of ``examples/kernels``, as argued from PTX's memory model (kernels.csv).

Under each progress model stands a letter: T terminates, H may hang, with weak fairness. ``lines`` are those of the file
that a finding of a kind has to be at, by kinds, with ``|`` between places where it may be as well; of a hang they are
among those of the round. ``litmus`` names the litmus test of ``examples`` of the same idiom.
"""

import csv
import json
from pathlib import Path

import pytest
from absent import absent
from commands import synth
from kernel_verdicts import answers, checked, told
from schemas import read_sarif

from backends.cuda.toolkits import ANY, chosen
from corpus.dialects.registry import read_litmus
from oracle.consistency import resolve_consistency_models
from synth.checking.questions import PROGRESS
from synth.memory.judging import judge_with
from synth.requests import AUTO

HERE = Path(__file__).parent
EXAMPLES = HERE.parents[1] / "examples"
KERNELS = EXAMPLES / "kernels"
AT_ONCE = 12
"""The files of one command."""

with (HERE / "kernels.csv").open(encoding="utf-8", newline="") as _file:
    TABLE = list(csv.DictReader(_file))
with (HERE / "locks.csv").open(encoding="utf-8", newline="") as _file:
    LOCKS = {row["test"]: row for row in csv.DictReader(_file)}

LIBRARY = sorted({row["file"] for row in TABLE if row["file"].startswith("libcu/")})
PLAIN = sorted({row["file"] for row in TABLE} - {*LIBRARY})


@pytest.mark.one_in(2)
@pytest.mark.device
@pytest.mark.parametrize(
    "files", [PLAIN[n : n + AT_ONCE] for n in range(0, len(PLAIN), AT_ONCE)], ids=lambda files: f"{files[0]}.."
)
def test_kernels(files, need):
    need("cuda")
    holds(files)


@pytest.mark.device
def test_kernels_with_the_headers_of_libcu(need):
    need("cuda")
    toolkit, _ = chosen(ANY)
    if not any((toolkit.folder.parent / "include" / each / "cuda" / "atomic").is_file() for each in ("", "cccl")):
        absent("the toolkit has no headers of CCCL (nvidia-cuda-cccl)")
    holds(LIBRARY)


def holds(files):
    """Hold each kernel of files with each launch against its row."""
    paths = [str(KERNELS / f"{name}.cu") for name in files]
    found = {(one["file"], one["kernel"], one["launch"]): one for one in checked(paths)}
    rows = {(str(KERNELS / f"{row['file']}.cu"), row["kernel"], row["launch"]): row for row in TABLE}
    expected = {key: told(rows[key]) for key in rows if key[0] in paths}
    assert {key: answers(found[key], expected.get(key, {})) for key in found} == expected
    # nvcc leaves every access of these kernels that is not read, or written, again without a barrier in between.
    assert {key for key, one in found.items() if one["removed"]} == set()


LISTED = (
    "bounds",
    "compaction-overflow",
    "counter-limit",
    "mp-barrier",
    "mp-orders",
    "mp-volatile",
    "packed",
    "warp-sum",
)
"""Files with few executions, of various findings."""


@pytest.mark.slow
@pytest.mark.device
def test_executions_that_are_listed_give_the_same_answers(need):
    need("cuda")
    paths = [str(KERNELS / f"{name}.cu") for name in LISTED]
    solved, listed = checked(paths), checked(paths, "--method", "enumerate")
    assert [each["answers"] for each in listed] == [each["answers"] for each in solved]
    # Of several races each method may find another.
    told = [[[(each["kind"], each["kind"] == "race" or each["text"]) for each in one["findings"]] for one in way]
            for way in (solved, listed)]  # fmt: skip
    assert told[0] == told[1]
    assert {kind for one in told[0] for kind, _ in one} >= {"race", "expectation", "bounds", "uninitialised", "trap"}


@pytest.mark.device
def test_sarif_names_each_location_once(need):
    """SARIF 2.1.0 asks that related locations be unique; here lines of one function are inlined in two places."""
    need("cuda")
    files = (KERNELS / f"{name}.cu" for name in ("mp-orders", "rw-lock", "rw-lock-unfenced"))
    result = synth("check", *files, "--format", "sarif", "--jobs", 1)
    (run,) = read_sarif(result.stdout)["runs"]
    rows = [[json.dumps(each) for each in one.get("relatedLocations", ())] for one in run["results"]]
    assert any(len(row) > 1 for row in rows) and all(len(set(row)) == len(row) for row in rows)
    assert all(json.dumps(one["locations"][0]) not in row for one, row in zip(run["results"], rows, strict=True))


@pytest.mark.parametrize(
    "row", [row for row in TABLE if row["litmus"]], ids=lambda row: f"{row['kernel']} as {row['litmus']}"
)
def test_the_litmus_test_of_the_same_idiom_has_the_same_verdict(row):
    """The outcome that it asks about is allowed where the expectation may fail; locks hang where their tests do."""
    folder, _, name = row["litmus"].partition("/")
    assert (EXAMPLES / f"{row['litmus']}.litmus").is_file()
    if folder == "locks":
        answer = LOCKS[name]["consistency"]
        assert [row[each] for each in PROGRESS] == [LOCKS[name][each][0] for each in PROGRESS]
    else:
        (model,) = resolve_consistency_models(["ptx-async" if name.startswith("ptx-async/") else "ptx"])
        answer = judge_with(read_litmus(EXAMPLES / f"{row['litmus']}.litmus"), model, AUTO, 2).answer
    assert (answer == "ALLOWED") is (row["expectation"] == "FOUND")


def test_each_example_has_rows_that_say_why_and_the_other_way_round():
    every = {str(path.relative_to(KERNELS).with_suffix("")) for path in KERNELS.rglob("*.cu")}
    assert {name for name in every if not name.startswith("library/")} == {*PLAIN, *LIBRARY}
    assert all(row["why"] for row in TABLE)
