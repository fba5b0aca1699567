"""``synth memory --from``: stopped and resumed, misused, with models of the user; the command line."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from commands import synth

from corpus import journal
from corpus import suite as corpus_suite
from corpus.dialects.registry import read_litmus
from corpus.executions.relaxations import RelaxationTarget
from corpus.journal import read_corpus
from corpus.links import MUTANTS, read_links
from corpus.suite import JOURNAL, MANIFEST, TESTS, TIMES
from synth.memory import suites

TSO = ("--from", "tso", "--events", "2..4", "--mutants")


def suite(folder: Path, *arguments: object, state: str = "complete") -> str:
    """What the command says that makes a suite."""
    result = synth("memory", *arguments, "-o", folder)
    assert (result.exit_code, result.stderr) == (0, "")
    assert state in result.stdout.splitlines()[-1]
    return result.stdout


def content(folder: Path) -> dict[str, bytes]:
    """The files of a corpus and of its mutants that are equal in two runs."""
    files = (file for file in folder.rglob("*") if file.is_file() and file.name != TIMES)
    return {str(file.relative_to(folder)): file.read_bytes() for file in files}


def consistent(folder: Path) -> None:
    """Holds that the corpus and its mutants open, that names are unique, and that links lead from one to the other."""
    names, mutants = ([test.name for test in read_corpus(each).tests] for each in (folder, folder / MUTANTS))
    assert len(set(names)) == len(names) and len(set(mutants)) == len(mutants)
    links = read_links(folder)
    assert {link.test for link in links} <= set(names)
    assert {link.mutant for link in links} == set(mutants)
    assert {link.kind for link in links} <= set(RelaxationTarget)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The suite that every other way to make it has to equal."""
    folder = tmp_path_factory.mktemp("suite") / "whole"
    suite(folder, *TSO, "-j", 1)
    consistent(folder)
    return content(folder)


# The same bytes


@pytest.mark.parametrize("words", [("-j", 2), ("-j", 1, "--solver", "cadical153"), ("-j", 2, "--solver", "glucose4")])
def test_processes_and_solvers_change_nothing(tmp_path, whole, words):
    suite(tmp_path / "d", *TSO, *words)
    assert content(tmp_path / "d") == whole


def test_the_number_of_tests_can_be_limited_and_is_the_same_each_time(tmp_path, whole, monkeypatch):
    suite(tmp_path / "d", *TSO, "--max-tests", 5, state="5 tests, incomplete")
    monkeypatch.setattr(suites, "BATCH_SECONDS", 0)  # tests come one by one, as from a slow machine
    suite(tmp_path / "slow", *TSO, "--max-tests", 5, "-j", 2, state="stopped by --max-tests; the same command goes on")
    assert content(tmp_path / "d") == content(tmp_path / "slow")
    consistent(tmp_path / "d")
    suite(tmp_path / "d", *TSO, "--max-tests", 9, state="9 tests")
    consistent(tmp_path / "d")
    suite(tmp_path / "d", *TSO, "-j", 2)
    assert content(tmp_path / "d") == whole


def test_a_run_out_of_time_goes_on(tmp_path, whole):
    suite(
        tmp_path / "d",
        *TSO,
        "--time-limit",
        0.01,
        state="incomplete: stopped by --time-limit; the same command goes on",
    )
    consistent(tmp_path / "d")
    suite(tmp_path / "d", *TSO)
    assert content(tmp_path / "d") == whole


@pytest.mark.parametrize("lines", [2, 9, 25])
def test_a_run_that_was_killed_goes_on(tmp_path, whole, lines):
    program = "from synth.commands.cli import main; from synth.memory import suites; suites.BATCH_SECONDS = 0; main()"
    command = [sys.executable, "-c", program, "memory", *TSO, "-j", "1", "-o", tmp_path / "d"]
    run = subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True)
    file = tmp_path / "d" / JOURNAL
    for _ in range(4000):
        if file.exists() and file.read_bytes().count(b"\n") >= lines:
            break
        time.sleep(0.005)
    os.killpg(run.pid, signal.SIGKILL)
    run.wait()
    shown = synth("show", tmp_path / "d", "--tests")
    assert shown.exit_code == 0 and "not complete: the run did not end; the same command goes on" in shown.stdout
    assert ".m1" not in shown.stdout, "mutants are none of the tests"
    suite(tmp_path / "d", *TSO)
    assert content(tmp_path / "d") == whole


@pytest.mark.parametrize("written", [1, 2, 5, 6, 9])
def test_a_run_that_ends_as_it_writes_its_files_leaves_what_opens_and_goes_on(tmp_path, whole, monkeypatch, written):
    """The files of the mutants come first, so that a corpus says that it is complete when all of it is there."""

    def dying(path, parts):
        done.append(path)
        if len(done) > written:
            raise KeyboardInterrupt
        write(path, parts)

    done: list[Path] = []
    write = journal.write_atomically
    for module in (journal, corpus_suite, suites):
        monkeypatch.setattr(module, "write_atomically", dying)
    assert synth("memory", *TSO, "-j", 1, "-o", tmp_path / "d").exit_code == 130
    monkeypatch.undo()
    unfinished = read_corpus(tmp_path / "d")
    assert len(unfinished.tests) == 16 and not unfinished.complete
    assert synth("show", tmp_path / "d").exit_code == 0
    suite(tmp_path / "d", *TSO)
    assert content(tmp_path / "d") == whole


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_process_that_dies_loses_nothing_and_doubles_nothing(tmp_path, whole, dies_once, jobs):
    # Late enough for what was found to have arrived.
    killed = dies_once(suites, "run_unit", lambda unit, item: isinstance(item, list) and len(item) > 1, 0.2)
    suite(tmp_path / "d", *TSO, "-j", jobs)
    assert killed.exists()
    assert content(tmp_path / "d") == whole


@pytest.mark.slow
@pytest.mark.parametrize("most", [20])
def test_units_that_take_long_are_cut_into_parts(tmp_path, whole, monkeypatch, most):
    monkeypatch.setattr(suites, "CONFLICTS", most)
    suite(tmp_path / "cut", *TSO, "-j", 2)
    units = json.loads((tmp_path / "cut" / TIMES).read_text())["units"]
    assert any(unit.count("/") == 2 for unit in units) and content(tmp_path / "cut") == whole
    suite(tmp_path / "some", *TSO, "--max-tests", 3, state="incomplete")
    for _ in range(2):
        suite(tmp_path / "some", *TSO, "--time-limit", 0, state="incomplete")
    suite(tmp_path / "some", *TSO)
    assert content(tmp_path / "some") == whole


def test_what_a_process_did_before_shows_in_no_size():
    request = suites.SuiteRequest("tso", (4, 4))
    unit = next(unit for unit in suites.units(request) if unit.name == "outcome/3.1")
    first, again = (list(suites.run_unit(unit, request, "minisat22"))[-1] for _ in range(2))
    assert first == again and first["refinements"] > 0


def test_mutants_of_another_time_are_taken_back_and_nothing_else(tmp_path):
    suite(tmp_path / "d", *TSO, "--max-tests", 3, state="incomplete")
    (tmp_path / "d" / "mutants" / "mine.txt").write_text("mine")
    suites.remove_mutants(tmp_path / "d")
    assert [file.name for file in (tmp_path / "d" / "mutants").iterdir()] == ["mine.txt"]
    assert synth("show", tmp_path / "d").exit_code == 0


# One axiom


def test_tests_of_the_other_criterion_are_counted_on_request(tmp_path):
    counts = {}
    for name, words in (("one", ()), ("both", ("--criterion", "both"))):
        said = suite(tmp_path / name, "--from", "tso", "--events", "2..4", *words)
        assert ("(18 by execution, 16 by outcome)" in said) == (name == "both")
        counts[name] = json.loads((tmp_path / name / MANIFEST).read_text())["counts"]["criteria"]
    assert counts == {"one": {"outcome": 16}, "both": {"outcome": 16, "execution": 18}}
    assert (tmp_path / "one" / TESTS).read_bytes() == (tmp_path / "both" / TESTS).read_bytes()


def test_a_suite_of_one_axiom_is_counted_as_such(tmp_path):
    said = suite(tmp_path / "d", "--from", "tso", "--events", "2..4", "--axiom", "atomicity", "--criterion", "both")
    tests = read_corpus(tmp_path / "d").tests
    assert len(tests) == 2 and all("axiom:atomicity" in test.tags for test in tests)
    assert "2 tests" in said and "2 by outcome" in said
    counted = json.loads((tmp_path / "d" / MANIFEST).read_text())["counts"]["criteria"]
    assert counted["outcome"] == 2 and counted["execution"] <= 4


# Models of the user


FILES = {
    "parts.cat": "let causal = po | rf | co\n",
    "whole.cat": """include "parts.cat"
let fr = rf^-1; co
let twice(r) = r; r
let rec hb = causal | fr | (hb; hb)
let rec one = po | (other; other) and other = one & loc
acyclic hb as order
irreflexive twice(one) as odd
empty rmw & (fr; co) as atomicity
""",
    "aliases.cat": "let near = loc\n   & swarp\nacyclic po | near as x\n",
    "hides.cat": "let swarp = loc & po\nacyclic swarp | rf | co | fr as x\n",
    "tensormap.cat": "acyclic ([TENSORMAP]; po) | (po & loc) | rf | co | fr as x\n",
    "flagged.cat": "flag ~empty [TENSORMAP] as tensormap\nacyclic (po & loc) | rf | co | fr as x\n",
}


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        Path(name).write_text(text)
    return tmp_path


def test_recursion_functions_includes_and_own_names(models):
    suite(Path("mine"), "--from", "whole.cat", "--events", "2..4")
    suite(Path("sc"), "--from", "sc", "--events", "2..4")
    mine, shipped = ([(test.name, test.text) for test in read_corpus(Path(each)).tests] for each in ("mine", "sc"))
    assert mine == shipped  # it is sequential consistency, said in a roundabout way


def test_a_relation_that_no_vocabulary_can_make_is_named_with_its_place(models):
    result = synth("memory", "--from", "aliases.cat", "--events", 2, "-o", "d")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("synth: aliases.cat:2:6: aliases uses 'swarp', which no vocabulary can make: ")
    assert result.stderr.count("\n") == 1 and not Path("d").exists()
    suite(Path("d"), "--from", "hides.cat", "--events", 2)  # its own relation of that name


def test_sets_that_are_empty_in_every_program_are_named_where_a_check_needs_them(models):
    result = synth("memory", "--from", "tensormap.cat", "--events", 2, "-o", "d")
    line = "synth: tensormap.cat:1:11: tensormap asks for TENSORMAP, which no program of vocabulary cpu has\n"
    assert (result.exit_code, result.stderr) == (0, line)
    suite(Path("flagged"), "--from", "flagged.cat", "--events", 2)


@pytest.mark.parametrize("vocabulary", [(), ("--vocabulary", "vulkan-scopes")])
def test_a_model_that_ships_does_not_warn_of_itself(tmp_path, vocabulary):
    suite(tmp_path / "d", "--from", "vulkan", *vocabulary, "--events", 2)


def test_a_model_that_ships_warns_in_the_vocabulary_of_another(tmp_path):
    result = synth("memory", "--from", "ptx", "--vocabulary", "vulkan", "--events", 2, "-o", tmp_path / "d")
    assert "ptx asks for SC, SURFACE, TEXTURE, which no program of vocabulary vulkan has" in result.stderr


def test_an_axiom_that_no_test_pins_has_a_column_of_zeros(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("m.cat").write_text("irreflexive po as never\nacyclic po-loc | rf | co | fr as coherence\n")
    made = suite(Path("d"), "--from", "m.cat", "--events", "2..3").splitlines()
    assert made[1].split() == ["up", "to", "never", "coherence", "tests", "programs"]
    assert [line.split()[2] for line in made[2:4]] == ["0", "0"] and made[3].split()[3] != "0"
    assert made[1] in synth("show", "d").stdout
    shown = json.loads(synth("show", "d", "--json").stdout)
    assert [counts["never"] for counts in shown["events"].values()] == [0, 0]


def test_a_path_that_skips_a_guarded_write_has_no_coherence_order_of_all_writes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("small.cat").write_text(
        "acyclic po-loc | rf | co | fr as coherence\nacyclic addr | data | (ctrl; [W]) | rf as no-thin-air\n"
    )
    asked = ("--from", "small.cat", "--vocabulary", "ptx", "--events", "2..5", "--criterion", "execution")
    made = suite(Path("d"), *asked)
    assert [line.split()[2:] for line in made.splitlines()[2:-1]] == [
        ["3", "0", "3", "3"],
        ["7", "0", "7", "7"],
        ["10", "6", "16", "16"],
        ["10", "24", "34", "34"],
    ]


# Misuse: one line, exit code 2, nothing written


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--from tso --axiom nope", "tso has no axiom 'nope'; it has sc-per-location, causality, atomicity"),
        ("--from tso --vocabulary -warp", "the vocabulary cpu has no 'warp'; it has R W rmw"),
        ("--from tso --vocabulary +alias", "the vocabulary cpu has no 'alias' to add; nothing may be added"),
        (
            "--from ptx --vocabulary +warp",
            "the vocabulary ptx-proxies has no 'warp' to add; what may be added is alias, arrive, cluster, constant",
        ),
        (
            "--from tso --vocabulary pxt",
            "expected one of amdgpu, armv8, c, cpu, opencl, power, ptx, ptx-async, ptx-proxies, riscv, vu",
        ),
        ("--from tso --vocabulary -R", "an rmw is made of R and W, and no R is left; leave out rmw as well"),
        ("--from ptx-6.0 --vocabulary -W", "an rmw is made of R and W, and no W is left; leave out rmw as well"),
        ("--from sc --vocabulary -W,-rmw", "without W, nothing happens that a model could forbid"),
        ("--from thesis-weak", "thesis-weak is a transition system"),
        ("--from nomodel", "unknown consistency model 'nomodel'"),
        ("--from tso --edges Rfe", "--edges does not go with --from"),
        ("--axiom x --edges Rfe", "--axiom needs --from MODEL"),
        ("--from tso --events 1", "expected numbers between 2 and 12"),
        ("--from tso --events 20", "expected numbers between 2 and 12"),
        ("--from tso --scopes warp", "expected cta, gpu, sys, found 'warp'"),
        ("--from tso --max-tests 0", "0 is not in the range"),
    ],
)
def test_misuse(tmp_path, arguments, message):
    result = synth("memory", *arguments.split(), "-o", tmp_path / "d")
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert message in result.stderr
    assert not (tmp_path / "d").exists()


def test_a_folder_that_holds_something_is_left_alone(tmp_path):
    (tmp_path / "file").touch()
    for folder in (tmp_path, tmp_path / "file"):
        result = synth("memory", "--from", "tso", "--events", 2, "-o", folder)
        assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)


def test_more_threads_than_events_are_no_tests(tmp_path):
    said = suite(tmp_path / "d", "--from", "tso", "--events", "2..3", "--threads", 5)
    assert said.splitlines()[-1].endswith("d: 0 tests, complete")
    assert len(said.splitlines()) == 2 and synth("show", tmp_path / "d").exit_code == 0


# Words


def test_scopes_that_a_model_does_not_tell_apart_leave_nothing_out(tmp_path):
    said = suite(tmp_path / "d", "--from", "tso", "--events", 2, "--scopes", "cta")
    assert said.startswith("tso tells apart, in cpu: R W rmw F\n")


def test_plain_accesses_can_be_left_out(tmp_path):
    said = suite(tmp_path / "d", "--from", "rc11", "--events", 2, "--vocabulary", "-plain")
    assert said.startswith("rc11 tells apart, in c: R (relaxed acquire sc), W (relaxed release sc), rmw")
    said = suite(tmp_path / "e", "--from", "rc11", "--events", 2, "--vocabulary", "-W.plain")
    assert said.startswith("rc11 tells apart, in c: R (plain relaxed acquire sc), W (relaxed release sc), rmw")


# What other commands make of it


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A suite of PTX with scopes and places in its names, and one of C, which can race; ``ptx`` and ``c``."""
    folder = tmp_path_factory.mktemp("made")
    words = "-acquire -release -acq_rel -F -bar"
    suite(folder / "ptx", "--from", "ptx-6.0", "--events", "2..3", "--vocabulary", words, "--mutants")
    suite(folder / "c", "--from", "rc11", "--events", "2..3", "--mutants")
    return folder


def test_mutants_are_allowed_and_none_races(made):
    for name, model in (("ptx", "ptx-6.0"), ("c", "rc11")):
        consistent(made / name)
        mutants = read_corpus(made / name / "mutants").tests
        assert mutants and all(dict(test.verdicts) == {model: "ALLOWED"} for test in mutants)


@pytest.mark.parametrize("folder", ["ptx", "ptx/mutants", "c", "c/mutants"])
@pytest.mark.parametrize("to", ["litmus", "dartagnan-ptx", "herd-lisa"])
def test_every_test_goes_to_other_runners_under_its_name(made, tmp_path, folder, to):
    tests = read_corpus(made / folder).tests
    result = synth("export", made / folder, "--to", to, "-o", tmp_path / "out")
    assert (result.exit_code, result.stderr) == (0, "")
    exported = (tmp_path / "out" / "@all").read_text().split()
    assert len(exported) == len(tests)
    for file in exported:
        litmus = read_litmus(tmp_path / "out" / file)
        assert litmus.name.replace("+at-", "@") in {test.name for test in tests}  # herd7 reads no @ in names


def test_names_have_scopes_and_places_and_are_found_by_them(made):
    names = [test.name for test in read_corpus(made / "ptx").tests]
    assert any("@" in name and "+" in name and "." in name for name in names)
    for name in names:
        result = synth("explain", made / "ptx", "--where", name, "-m", "ptx-6.0")
        assert (result.exit_code, result.stderr) == (0, ""), name


@pytest.mark.parametrize("backend", ["cuda", "opencl", "cpp", "glsl"])
def test_every_test_of_one_gpu_is_compiled(made, tmp_path, backend):
    for folder in ("ptx", "c", "c/mutants"):
        one_gpu = ("--where", "*", "--where", "name!=*--*")  # in a name, -- is between GPUs
        result = synth("compile", made / folder, "--backend", backend, *one_gpu, "-o", tmp_path / folder)
        wanted = sum("--" not in test.name for test in read_corpus(made / folder).tests)
        assert result.exit_code == 0 and result.output.startswith(f"{wanted} of {wanted} tests"), result.output


def test_tests_are_labelled_selected_and_shown(made, tmp_path):
    result = synth("label", made / "c", "-m", "rc11", "-m", "sc", "--format", "csv")
    assert (result.exit_code, result.stderr) == (0, "")
    suite(tmp_path / "d", "--from", "sc", "--events", "2..4", "-m", "tso", "-m", "rmo")
    assert synth("select", tmp_path / "d", "--separate-models", "-o", tmp_path / "few").exit_code == 0
    assert len(read_corpus(tmp_path / "few").tests) == 2
    shown = synth("show", tmp_path / "d", "--where", "tag=axiom:*", "--tests")
    assert shown.exit_code == 0 and "SB" in shown.stdout
