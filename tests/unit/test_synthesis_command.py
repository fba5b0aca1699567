"""``synth progress``: what it finds, what it says, and the bytes it writes."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import commands
import pytest
from bruteforce import all_tests
from click.testing import Result

import synth.progress.synthesis
from corpus.journal import read_corpus
from corpus.progress.axb import canonical, digest, instructions
from corpus.progress.text import parse_axb, program_of
from corpus.suite import JOURNAL, TIMES
from oracle.progress.behaviour import behaviour, behaviour_digest
from oracle.progress.models import verdicts
from oracle.progress.reductions import is_minimal

# threads, instructions -> all tests, all up to behaviour, minimal tests (which are as many up to behaviour)
COUNTS = {(2, 2): (8, 8, 4), (2, 3): (162, 139, 26), (3, 3): (60, 60, 7)}

# Tests that must end at 2x4: weak, strong
TERMINATING = {
    "unfair": (0, 0),
    "hsa": (1171, 4881),
    "obe": (864, 4397),
    "hsa+obe": (1620, 5399),
    "lobe": (1620, 5399),
    "fair": (2553, 6610),
}


def progress(*arguments: object) -> Result:
    return commands.synth("progress", *arguments)


def fresh(*arguments: object, seed: int = 0) -> str:
    """The command in a process of its own, and what it says."""
    command = [sys.executable, "-c", "from synth.commands.cli import main; main(prog_name='synth')", "progress"]
    environment = os.environ | {"PYTHONHASHSEED": str(seed)}
    done = subprocess.run([*command, *map(str, arguments)], env=environment, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout


def content(folder: Path) -> dict[str, bytes]:
    """Everything but the one file that may differ from run to run."""
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file() and file.name != TIMES
    }


def bound(threads: int, instrs: int) -> list[object]:
    return ["--threads", threads, "--instrs", instrs]


Made = Callable[..., Path]


@pytest.fixture
def made(tmp_path: Path) -> Made:
    """``made(options)`` is the folder of a suite that is complete."""
    count = iter(range(100))

    def make(*arguments: object) -> Path:
        folder = tmp_path / f"suite{next(count)}"
        result = progress(*arguments, "-j", 1, "-o", folder)
        assert result.exit_code == 0
        number = len(read_corpus(folder).tests)
        assert result.stdout == f"{folder}: {number} tests, complete\n"
        return folder

    return make


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All tests of 2x4."""
    folder = tmp_path_factory.mktemp("2x4") / "suite"
    assert fresh(*bound(2, 4), "--all", "-j", 2, "-o", folder) == f"{folder}: 6610 tests, complete\n"
    return folder


# What is found


@pytest.mark.parametrize("size", COUNTS, ids=str)
@pytest.mark.parametrize(
    ("options", "column"),
    [
        (["--all"], 0),
        (["--all", "--up-to", "program"], 0),
        (["--all", "--up-to", "behaviour"], 1),
        ([], 2),
        (["--minimal", "--up-to", "program"], 2),
    ],
    ids=str,
)
def test_counts(made, size, options, column):
    tests = read_corpus(made(*bound(*size), *options)).tests
    assert len(tests) == COUNTS[size][column]
    programs = [program_of(test) for test in tests]
    assert set(programs) <= set(all_tests(*size))
    assert all(map(is_minimal, programs)) or "--all" in options
    if "behaviour" in options:
        assert {behaviour(program) for program in programs} == {behaviour(program) for program in all_tests(*size)}


def test_records_say_what_the_oracle_says(made):
    for test in read_corpus(made(*bound(3, 3), "--all")).tests:
        assert dict(test.verdicts) == verdicts(program_of(test))
        assert test.digest == digest(program_of(test))
        assert test.behaviour == behaviour_digest(program_of(test))


def test_all_tests_of_2x4(everything):
    """The suite with all that can be counted in it, from its files."""
    tests = read_corpus(everything).tests
    assert {program_of(test) for test in tests} == set(all_tests(2, 4))
    assert len({test.digest for test in tests}) == len(tests) == 6610
    assert len({test.behaviour for test in tests}) == 5571
    with (everything / "labels.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["name"] for row in rows] == [test.name for test in tests]
    ends = Counter(model for row in rows for model, verdict in row.items() if verdict == "TERMINATES")
    assert {base: (ends[f"{base}-weak"], ends[f"{base}-strong"]) for base in TERMINATING} == TERMINATING


def test_minimal_tests_of_2x4(tmp_path):
    folder = tmp_path / "suite"
    assert fresh(*bound(2, 4), "--up-to", "program", "-o", folder) == f"{folder}: 491 tests, complete\n"
    tests = read_corpus(folder).tests
    assert len({test.behaviour for test in tests}) == 473


def test_the_manifest_says_what_was_asked_and_how_large_it_was(made):
    manifest = read_corpus(made(*bound(3, 4), "--all", "--solver", "cadical153")).manifest
    assert manifest["complete"] is True
    assert manifest["solver"] == "cadical153"
    assert (manifest["request"]["threads"], manifest["request"]["instrs"]) == (3, 4)
    assert manifest["counts"] == {"tests": 4146, "bounds": {"3x4": 4146}}
    (size,) = manifest["encodings"].values()
    assert size["variables"] > 500 and size["clauses"] > 2000


@pytest.mark.parametrize(
    ("options", "limits"), [(["--locs", 1], (1, 2)), (["--locs", 3], (3, 2)), (["--values", 3], (2, 3))], ids=str
)
def test_locations_and_values(made, options, limits):
    tests = read_corpus(made(*bound(2, 3), "--all", *options)).tests
    assert sorted((program_of(test) for test in tests), key=lambda program: program.key) == all_tests(2, 3, *limits)


# Symmetric threads


@pytest.mark.parametrize(("size", "orbits"), [((2, 3), 81), ((3, 3), 14)], ids=str)
def test_symmetric_threads(made, size, orbits):
    """One test of each orbit, the least."""
    tests = read_corpus(made(*bound(*size), "--all", "--symmetric-threads")).tests
    assert len(tests) == orbits
    assert {program_of(test) for test in tests} == {canonical(program, True) for program in all_tests(*size)}


@pytest.mark.parametrize(
    "options",
    [
        ["--minimal"],
        ["--all", "--distinguish", "hsa-strong>obe-strong"],
        ["--all", "--distinguish", "lobe-weak>obe-weak"],
    ],
    ids=str,
)
@pytest.mark.parametrize("size", [(2, 3), (3, 3)], ids=str)
def test_symmetric_threads_represent_every_test(made, size, options):
    """Verdicts and minimality depend on the order of threads: an orbit has a test where some order is wanted."""
    plain = [program_of(test) for test in read_corpus(made(*bound(*size), *options, "--up-to", "program")).tests]
    folder = made(*bound(*size), *options, "--up-to", "program", "--symmetric-threads")
    least = [canonical(program_of(test), True) for test in read_corpus(folder).tests]
    assert plain
    assert {program_of(test) for test in read_corpus(folder).tests} <= set(plain)
    assert sorted(least, key=lambda p: p.key) == sorted({canonical(p, True) for p in plain}, key=lambda p: p.key)


def test_symmetric_threads_up_to_behaviour(made):
    tests = read_corpus(made(*bound(2, 4), "--symmetric-threads")).tests
    assert len(tests) == len({behaviour(program_of(test), True) for test in tests}) == 254


# Distinguishing tests


def said(folder: Path) -> Counter[tuple[str, ...]]:
    models = ("obe-strong", "hsa-strong", "obe-weak")
    return Counter(tuple(test.verdicts[model] for model in models) for test in read_corpus(folder).tests)


BORDER = ("TERMINATES", "MAY_HANG")


def test_the_bound_grows_until_there_is_a_test(made):
    folder = made("--distinguish", "obe-strong>hsa-strong", "--all")
    corpus = read_corpus(folder)
    assert corpus.manifest["counts"] == {"tests": 10, "bounds": {"2x3": 10}}
    expected = {
        program
        for program in all_tests(2, 3)
        if (verdicts(program)["obe-strong"], verdicts(program)["hsa-strong"]) == BORDER
    }
    assert {program_of(test) for test in corpus.tests} == expected


def test_threads_grow_before_instructions(made):
    folder = made("--distinguish", "lobe-strong>hsa+obe-strong", "--all")
    assert set(read_corpus(folder).manifest["counts"]["bounds"]) == {"3x3"}
    folder = made("--distinguish", "obe-strong>hsa-strong", "--threads", 3)
    assert set(read_corpus(folder).manifest["counts"]["bounds"]) == {"3x4"}
    folder = made("--distinguish", "obe-strong>hsa-strong", "--instrs", 4)
    assert set(read_corpus(folder).manifest["counts"]["bounds"]) == {"2x4"}


def test_a_fixed_bound(made, everything):
    """A test for strong OBE, which neither strong HSA nor weak OBE can pass for: the answer to the open question."""
    assert not read_corpus(made(*bound(2, 3), "--all", "--distinguish", "obe-strong>hsa-strong,obe-weak")).tests
    verdict_counts = said(everything)
    strongly = (*BORDER, "MAY_HANG")
    assert sum(count for vector, count in verdict_counts.items() if vector[:2] == BORDER) == 491
    assert verdict_counts[strongly] == 51
    folder = made(*bound(2, 4), "--all", "--distinguish", "obe-strong>hsa-strong,obe-weak")
    assert said(folder) == {strongly: 51}


def test_minimal_distinguishing_tests_are_minimal(made):
    tests = read_corpus(made(*bound(2, 4), "--distinguish", "obe-strong>hsa-strong,obe-weak")).tests
    assert tests and all(is_minimal(program_of(test)) for test in tests)


# The same bytes


def test_the_same_bytes_from_run_to_run_and_for_any_number_of_jobs(tmp_path):
    for seed, jobs in enumerate((1, 2, 3), start=1):
        fresh(*bound(3, 4), "-j", jobs, "-o", tmp_path / str(seed), seed=seed)
    first, *others = [content(folder) for folder in sorted(tmp_path.iterdir())]
    assert sorted(first) == ["labels.csv", "manifest.json", "tests.jsonl"]
    assert all(other == first for other in others)


def test_the_same_bytes_from_one_process(everything, made):
    assert content(made(*bound(2, 4), "--all")) == content(everything)


# Stopped early


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is found is recorded family by family, as in a search that takes long."""
    monkeypatch.setattr(synth.progress.synthesis, "BATCH_SECONDS", -1)


def family(text: str) -> tuple[tuple[int, int], ...]:
    """What the programs of a family have in common (``constraints.families``)."""
    return tuple((ins.location, ins.jump) for _, _, ins in instructions(parse_axb(text)))


@pytest.mark.usefixtures("small_batches")
def test_max_tests(made, tmp_path):
    folder = tmp_path / "some"
    result = progress(*bound(2, 3), "--all", "--max-tests", 10, "-o", folder)
    assert result.exit_code == 0
    assert result.stdout == f"{folder}: 10 tests, incomplete: stopped by --max-tests; the same command goes on\n"
    corpus = read_corpus(folder)
    assert len(corpus.tests) == 10 and corpus.manifest["complete"] is False
    whole = made(*bound(2, 3), "--all")
    assert {test.digest for test in corpus.tests} < {test.digest for test in read_corpus(whole).tests}
    assert progress(*bound(2, 3), "--all", "-o", folder).exit_code == 0
    assert content(folder) == content(whole)


def test_a_suite_cut_by_max_tests_is_the_same_every_time(tmp_path, monkeypatch):
    for seed in (1, 2):
        fresh(*bound(2, 4), "--all", "--max-tests", 5, "-j", seed, "-o", tmp_path / str(seed), seed=seed)
    suites = [read_corpus(tmp_path / name).tests for name in ("1", "2")]
    assert suites[0] == suites[1] and len(suites[0]) == 5
    for number, seconds in enumerate((-1, 3600)):  # as on a slow machine and on a fast one
        monkeypatch.setattr(synth.progress.synthesis, "BATCH_SECONDS", seconds)
        assert progress(*bound(2, 4), "--all", "--max-tests", 5, "-o", tmp_path / f"s{number}").exit_code == 0
        assert read_corpus(tmp_path / f"s{number}").tests == suites[0]


@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize("options", [["--all"], [], ["--all", "--symmetric-threads"]], ids=str)
def test_time_limit_and_resume(made, tmp_path, options):
    """Stopped again and again, until nothing is left."""
    folder = tmp_path / "some"
    result = progress(*bound(2, 3), *options, "--time-limit", 0, "-o", folder)
    sizes = []
    while "incomplete" in result.stdout:
        assert result.exit_code == 0
        assert result.stdout.endswith(" tests, incomplete: stopped by --time-limit; the same command goes on\n")
        assert json.loads((folder / "manifest.json").read_text())["complete"] is False
        assert (folder / JOURNAL).exists()
        sizes.append(len(read_corpus(folder).tests))
        entries = [json.loads(line) for line in (folder / JOURNAL).read_text().splitlines()]
        programs = [entry["program"] for entry in entries if "program" in entry]
        assert len(programs) == len(set(programs))  # nothing is searched for again
        assert len(set(map(family, programs))) == len(sizes)
        result = progress(*bound(2, 3), *options, "--time-limit", 0 if len(sizes) < 5 else 60, "-o", folder)
    assert len(sizes) == 5 and sizes == sorted(sizes)
    assert content(folder) == content(made(*bound(2, 3), *options))


@pytest.mark.one_in(3)
@pytest.mark.parametrize("most", [1, 4, 30])
@pytest.mark.parametrize("options", [["--all", "--certify"], []], ids=str)
def test_units_that_hold_much_are_cut_into_parts(made, tmp_path, monkeypatch, most, options):
    monkeypatch.setattr(synth.progress.synthesis, "MOST", most)
    whole = made(*bound(2, 3), *options)
    assert progress(*bound(2, 3), *options, "-j", 2, "-o", tmp_path / "cut").exit_code == 0
    units = json.loads((tmp_path / "cut" / "times.json").read_text())["units"]
    assert len(units) > 1 and content(tmp_path / "cut") == content(whole)

    monkeypatch.setattr(synth.progress.synthesis, "BATCH_SECONDS", -1)
    result = progress(*bound(2, 3), *options, "--time-limit", 0, "-o", tmp_path / "some")
    for _ in range(8):
        assert "incomplete" in result.stdout
        result = progress(*bound(2, 3), *options, "--time-limit", 0, "-o", tmp_path / "some")
    entries = [json.loads(line) for line in (tmp_path / "some" / JOURNAL).read_text().splitlines()]
    programs = [entry["program"] for entry in entries if "program" in entry]
    assert len(programs) == len(set(programs))
    assert progress(*bound(2, 3), *options, "-o", tmp_path / "some").exit_code == 0
    assert content(tmp_path / "some") == content(whole)


@pytest.mark.parametrize("jobs", [1, 2])
def test_the_clock_is_watched_while_the_solver_works(tmp_path, jobs):
    started = time.monotonic()
    result = progress(*bound(9, 9), "-j", jobs, "--time-limit", 1, "-o", tmp_path / "some")
    assert "stopped by --time-limit" in result.stdout
    assert time.monotonic() - started < 20  # the first solution takes minutes


@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_process_that_dies_loses_nothing(made, tmp_path, dies_once, jobs):
    killed = dies_once(synth.progress.synthesis, "run_unit", lambda unit, item: item and unit.name == "1.2/0")
    folder = tmp_path / "suite"
    assert "complete" in progress(*bound(2, 3), "--all", "-j", jobs, "-o", folder).stdout
    assert killed.exists()
    assert content(folder) == content(made(*bound(2, 3), "--all"))


@pytest.mark.usefixtures("small_batches")
def test_what_was_cut_into_other_units_is_not_resumed(tmp_path, monkeypatch):
    """A journal knows units by number, so tests would be missing."""
    assert progress(*bound(2, 3), "--max-tests", 3, "-o", tmp_path / "some").exit_code == 0
    monkeypatch.setattr(synth.progress.synthesis, "CUTTING", synth.progress.synthesis.CUTTING + 1)
    result = progress(*bound(2, 3), "-o", tmp_path / "some")
    assert result.exit_code == 2 and "made with another cutting: 2 then, 3 now" in result.stderr


def test_a_growing_bound_is_resumed_where_it_was(made, tmp_path):
    options = ["--all", "--distinguish", "obe-strong>hsa-strong"]
    folder = tmp_path / "some"
    assert "1 tests, incomplete" in progress(*options, "--max-tests", 1, "-o", folder).stdout
    assert progress(*options, "-o", folder).stdout == f"{folder}: 10 tests, complete\n"
    assert content(folder) == content(made(*options))


# Misuse: one line, exit code 2, nothing written


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--threads", 0, "--instrs", 2], "--threads"),
        (["--threads", 2, "--instrs", 0], "--instrs"),
        (["--threads", 3, "--instrs", 2], "3 threads"),
        ([], "--threads and --instrs"),
        (["--threads", 2], "--threads and --instrs"),
        (["--distinguish", "obe-strong"], "A>B"),
        (["--distinguish", "hsa-weak>hsa-strong"], "there is no such test"),
        (["--distinguish", "obe-weak>hsa-weak,fair-weak"], "there is no such test"),
        (["--distinguish", "fair-strong>fair-strong"], "there is no such test"),
        (["--distinguish", "fair-strong>sc"], "sc is a consistency model, for litmus tests"),
        (["--distinguish", "nosuch-weak>hsa-weak"], "unknown progress model 'nosuch'; known, each also"),
        (["--threads", 2, "--instrs", 2, "--max-tests", 0], "--max-tests"),
        (["--threads", 2, "--instrs", 2, "--jobs", 0], "--jobs"),
        (["--threads", 2, "--instrs", 2, "--values", 1], "--values"),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, list) else "",
)
def test_misuse(tmp_path, arguments, message):
    result = progress(*arguments, "-o", tmp_path / "suite")
    assert result.exit_code == 2
    assert result.stdout == ""
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_exists_is_left_alone(made, tmp_path):
    folder = made(*bound(2, 2))
    before = content(folder)
    for arguments, message in [
        ([*bound(2, 2)], "the corpus is complete"),
        ([*bound(2, 3)], "another instrs"),
    ]:
        result = progress(*arguments, "-o", folder)
        assert result.exit_code == 2 and message in result.stderr
        assert content(folder) == before
    (tmp_path / "file").write_text("mine")
    assert progress(*bound(2, 2), "-o", tmp_path / "file").exit_code == 2
    assert (tmp_path / "file").read_text() == "mine"
