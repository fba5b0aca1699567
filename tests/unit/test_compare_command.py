"""``synth compare``: what it says, what it writes, and its misuse; the command line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from commands import synth

from corpus.journal import read_corpus
from corpus.suite import TIMES
from oracle.cat.syntax import shipped_models
from synth import units
from synth.memory import comparison
from synth.memory.comparison import run_part


def content(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.name != TIMES}


def test_the_smallest_difference_is_printed_and_the_exit_code_is_1():
    result = synth("compare", "sc", "tso")
    assert (result.exit_code, result.stderr) == (1, "")
    first, *_, last = result.stdout.splitlines()
    assert first == "over cpu: R W rmw F"
    assert "tests of 4 events that tso allows and sc forbids" in result.stdout
    assert "SB" in last and last.startswith("sc is stronger than tso")


def test_no_difference_is_said_with_the_bound_and_the_words():
    result = synth("compare", "tso", "sc", "--events", "..3")
    assert (result.exit_code, result.stdout.splitlines()[-1]) == (0, "no difference up to 3 events over R W rmw F")


def test_tests_are_a_corpus_and_the_same_however_many_processes_there_are(tmp_path):
    asked = ("compare", "sc", "tso", "--events", "..4")
    assert synth(*asked, "-j", 1, "-o", tmp_path / "d").exit_code == 1
    assert synth(*asked, "-j", 2, "-o", tmp_path / "e").exit_code == 1
    assert content(tmp_path / "d") == content(tmp_path / "e")
    corpus = read_corpus(tmp_path / "d")
    assert corpus.complete and corpus.models == ["sc", "tso"]
    assert all(dict(test.verdicts) == {"sc": "FORBIDDEN", "tso": "ALLOWED"} for test in corpus.tests)
    assert synth("show", tmp_path / "d").exit_code == 0


def test_a_search_that_is_stopped_goes_on_to_the_same_bytes(tmp_path):
    asked = ("compare", "sc", "tso", "rmo", "--events", "..4", "--minimal")
    whole = synth(*asked, "-o", tmp_path / "whole")
    assert whole.stdout.splitlines()[-1] == f"{tmp_path / 'whole'}: 10 tests, complete"
    stopped = synth(*asked, "--time-limit", 0, "-o", tmp_path / "d")
    assert "stopped by --time-limit" in stopped.stdout.splitlines()[-1]
    assert "not complete: stopped by --time-limit; the same command goes on" in synth("show", tmp_path / "d").stdout
    assert synth(*asked, "-j", 1, "-o", tmp_path / "d").exit_code == 1
    assert content(tmp_path / "d") == content(tmp_path / "whole")
    assert "nothing is left to do" in synth(*asked, "-o", tmp_path / "d").stderr


@pytest.mark.slow
def test_a_search_that_is_interrupted_keeps_the_sizes_that_are_done(tmp_path, monkeypatch):
    asked = ("compare", "sc", "tso", "rmo", "--events", "..4", "--minimal", "-j", 1)
    assert synth(*asked, "-o", tmp_path / "whole").exit_code == 1
    searched = []

    def find(part, comparison, solver):
        if sum(part.sizes) == 4:
            raise KeyboardInterrupt
        searched.append(part.name)
        return run_part(part, comparison, solver)

    def here(tasks, work, jobs, **_):  # in this process
        yield from ((task, item) for task in tasks for item in work(task))

    with monkeypatch.context() as patched:
        patched.setattr(comparison, "run_part", find)
        patched.setattr(units, "run_tasks", lambda tasks, work, jobs, **_: here(tasks, work, jobs))
        stopped = synth(*asked, "-o", tmp_path / "d")
    assert stopped.exit_code == 130 and "interrupted; the same command goes on" in stopped.stdout
    assert "tso>sc/2" in searched and read_corpus(tmp_path / "d").tests
    assert synth(*asked, "-o", tmp_path / "d").exit_code == 1
    assert content(tmp_path / "d") == content(tmp_path / "whole")


def test_another_question_is_not_gone_on_with(tmp_path):
    synth("compare", "sc", "tso", "--time-limit", 0, "-o", tmp_path / "d")
    result = synth("compare", "sc", "tso", "--both-ways", "-o", tmp_path / "d")
    assert result.exit_code == 2 and "was made with another both_ways" in result.stderr


@pytest.mark.parametrize(("limit", "value"), [("--timeout", 0.01), ("--memory", 1)])
def test_a_part_that_exceeds_a_limit_is_left_and_nothing_is_called_complete(tmp_path, limit, value):
    lines = "".join(f"let a{number + 1} = (a{number}; a{number})^+ | po\n" for number in range(300))
    (tmp_path / "slow.cat").write_text(f"let a0 = po | rf | co | fr\n{lines}acyclic a300\n")
    # a process of its own: this one may have memory left that other tests gave back
    shared, own = ([limit, str(value)], []) if limit == "--memory" else ([], [limit, str(value)])
    command = [sys.executable, "-m", "synth", *shared, "compare", "slow.cat", "sc", *own, "-o", "d"]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    told, folder = result.stdout.splitlines()[-2:]
    assert result.returncode == 0
    assert told == f"UNKNOWN: no size was searched to its end; stopped by {limit}"
    assert folder == f"d: 0 tests, incomplete: stopped by {limit}; the same command goes on"
    assert not read_corpus(tmp_path / "d").complete


def test_as_data():
    result = synth("compare", "sc", "tso", "--events", "..4", "--json")
    assert result.exit_code == 1
    (first, *_) = json.loads(result.stdout)["tests"]
    assert (first["events"], first["allowed_by"], first["forbidden_by"]) == (4, "tso", "sc")


def test_a_line_left_out_of_a_model_with_recursion_functions_and_includes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("base.cat").write_text("let causal = po | rf | co\n")
    text = 'include "base.cat"\nlet fr = rf^-1; co\nlet rec hb = causal | fr | (hb; hb)\nacyclic hb as order\n'
    Path("whole-sc.cat").write_text(text + "empty rmw & (fr; co) as atomicity\n")
    Path("less.cat").write_text(text.replace("| fr ", ""))
    result = synth("compare", "whole-sc.cat", "sc", "--events", "..4")
    assert (result.exit_code, result.stderr) == (0, "")
    result = synth("compare", "whole-sc.cat", "less.cat")
    assert (result.exit_code, result.stderr) == (1, "")
    assert "CoRR" in result.stdout or "CoWR0" in result.stdout


def test_words_that_no_program_has(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("images.cat").write_text("acyclic ([TENSORMAP]; po) | (po & loc) | rf | co | fr as x\n")
    result = synth("compare", "images.cat", "sc", "--events", 2)
    assert result.exit_code == 0
    assert (
        result.stderr == "synth: images.cat:1:11: images asks for TENSORMAP, which no program of vocabulary cpu has\n"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("tso", "expected two or more different models"),
        ("tso tso", "expected two or more different models"),
        ("tso thesis-weak", "thesis-weak is a transition system"),
        ("tso nomodel", "unknown consistency model 'nomodel'"),
        ("tso sc --events 1", "expected numbers between 2 and 12"),
        ("tso sc --vocabulary -W", "an rmw is made of R and W, and no W is left; leave out rmw as well"),
        ("tso sc --picture order.gif", "a picture is an .svg, .pdf, .png, .tex or .dot file"),
        ("tso sc -o .", "the folder exists and is not empty"),
        ("virtual.cat sc", "virtual.cat:1:14: virtual uses 'vloc', which no vocabulary can make"),
    ],
)
def test_misuse(tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    Path("virtual.cat").write_text("acyclic po | vloc as x\n")
    result = synth("compare", *arguments.split())
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert message in result.stderr


def test_the_model_without_po_loc_of_the_release_pattern(tmp_path):
    """What edges alone did not show: the pattern of one location or of several."""
    text = Path(shipped_models()["ptx-6.0"]).read_text(encoding="utf-8")
    mine = tmp_path / "my-ptx.cat"
    assert "po-loc?" in text
    mine.write_text(text.replace("po-loc?; ", "", 1) if "po-loc?; " in text else text.replace("po-loc?", "id"))
    result = synth("compare", "ptx-6.0", mine, "--vocabulary", "-rmw -bar -cta")
    assert (result.exit_code, result.stderr) == (1, "")
    assert "my-ptx allows and ptx-6.0 forbids" in result.stdout
