"""``synth progress`` and ``synth memory`` without ``--output``: a folder that is named after the question."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from commands import synth

CLASSIC = "PodWW PodRR PodWR PodRW Rfe Fre Coe"
TWO_BY_TWO = ("progress", "--threads", 2, "--instrs", 2)


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "times.json"}


@pytest.mark.parametrize(
    ("command", "name", "bound", "end"),
    [
        (TWO_BY_TWO, "progress-2x2", "2 threads, 2 instructions", "4 tests, complete"),
        ((*TWO_BY_TWO, "--all", "--locs", 1), "progress-2x2-locs-1-all", "2 threads, 2 instructions", ""),
        ((*TWO_BY_TWO, "--locs", 2), "progress-2x2", "2 threads, 2 instructions", ""),
        (
            ("memory", "--edges", CLASSIC),
            "memory-PodWW-PodRR-PodWR-PodRW-Rfe-Fre-Coe-4",
            "cycles of 4 edges",
            "6 tests of 6 cycles, complete",
        ),
        (
            ("memory", "-e", "PodWR Fre", "--size", "2..4", "-m", "./../sc"),
            "memory-PodWR-Fre-2-4-model-sc",
            "cycles of 2..4 edges",
            "",
        ),
        (("memory", "--from", "tso", "--events", 2), "memory-tso-2", "2 events", "3 tests, complete"),
    ],
)
def test_the_folder_is_named_and_found_again(command: tuple[object, ...], name: str, bound: str, end: str) -> None:
    command = tuple("sc" if word == "./../sc" else word for word in command)
    first = synth(*command)
    assert first.exit_code == 0, first.output
    assert first.stdout.splitlines()[0] == f"{name}: {bound}: new"
    assert end in first.stdout and "complete" in first.stdout
    before = files(Path(name))
    again = synth(*command)
    assert again.exit_code == 0
    assert again.stdout.splitlines()[0] == f"{name}: {bound}: found whole"
    assert "tests, complete" in again.stdout.splitlines()[1]
    assert files(Path(name)) == before and [path.name for path in Path().iterdir()] == [name]


def test_what_is_there_is_left_alone() -> None:
    Path("progress-2x2").mkdir()
    Path("progress-2x2", "mine").touch()
    Path("progress-2x2-2").symlink_to("elsewhere")
    assert synth("progress", "--threads", 2, "--instrs", 2, "--all", "-o", "progress-2x2-3").exit_code == 0
    before = files(Path("progress-2x2-3"))
    for state in ("new", "found whole"):
        found = synth(*TWO_BY_TWO)
        assert found.exit_code == 0 and found.stdout.startswith("progress-2x2-4: 2 threads, 2 instructions: " + state)
    assert files(Path("progress-2x2-3")) == before and not Path("elsewhere").exists()


def test_a_model_that_has_changed_is_another_question(tmp_path: Path) -> None:
    model = tmp_path / "my.cat"
    model.write_text("my\nacyclic po | rf | co | fr as sc\n")
    command = ("memory", "--from", model, "--events", 2)
    first = synth(*command)
    folder = Path(first.stdout.partition(":")[0])
    before = files(folder)
    model.write_text("my\nacyclic po-loc | rf | co | fr as sc\n")
    other = synth(*command)
    assert other.stdout.startswith(f"{folder}-2: ") and files(folder) == before


def test_it_goes_on_after_it_was_stopped() -> None:
    whole = synth(*TWO_BY_TWO, "--all", "-o", "whole")
    assert whole.exit_code == 0
    stopped = synth(*TWO_BY_TWO, "--all", "--max-tests", 2)
    assert "incomplete: stopped by --max-tests; the same command goes on" in stopped.stdout
    on = synth(*TWO_BY_TWO, "--all")
    assert on.stdout.startswith("progress-2x2-all: 2 threads, 2 instructions: an earlier run was stopped")
    assert files(Path("progress-2x2-all")) == files(Path("whole"))


@pytest.mark.parametrize("wait", [0.0, 0.2])
def test_it_goes_on_after_a_kill(wait: float) -> None:
    command = ["progress", "--threads", "3", "--instrs", "4"]
    with subprocess.Popen([sys.executable, "-m", "synth", *command], stdout=subprocess.PIPE, bufsize=0) as process:
        assert process.stdout is not None
        journal = Path("progress-3x4", "journal.jsonl")
        while process.poll() is None and not journal.exists():
            time.sleep(0.005)
        time.sleep(wait)
        process.send_signal(signal.SIGKILL)
    done = subprocess.run([sys.executable, "-m", "synth", *command], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("progress-3x4: 3 threads, 4 instructions: ")
    assert "296 tests, complete" in done.stdout and os.listdir() == ["progress-3x4"]


MUTEX = Path(__file__).parents[2] / "examples" / "progress" / "mutex.axb"
SB = Path(__file__).parents[2] / "examples" / "memory" / "c-sb-sc.litmus"


@pytest.mark.parametrize(
    ("command", "name"),
    [
        (("compile", MUTEX, "--backend", "opencl"), "mutex-opencl"),
        (("compile", MUTEX, "--backend", "cuda", "--mapping", "chunked"), "mutex-cuda-mapping-chunked"),
        (("export", SB, "--to", "herd-c"), "c-sb-sc-herd-c"),
        (
            ("harden", "--places", 1, "--runs", 2, "--rate", 0.9, "--run", "/bin/true"),
            "harden-true-places-1-runs-2-rate-0.9",
        ),
    ],
)
def test_other_commands_name_their_folder_too(command: tuple[object, ...], name: str) -> None:
    first = synth(*command)
    assert first.stdout.startswith(f"{name}: ") and first.stdout.splitlines()[0].endswith(": new"), first.output
    before = tree(Path(name))
    again = synth(*command)
    assert again.stdout.splitlines()[0].endswith(": found whole") and tree(Path(name)) == before
    assert os.listdir() == [name]


def tree(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_programs_of_another_text_go_elsewhere_and_what_a_kill_left_is_made_whole() -> None:
    Path("a.axb").write_text(MUTEX.read_text())
    assert synth("compile", "a.axb", "--backend", "opencl").exit_code == 0
    whole = tree(Path("a-opencl"))
    question = Path("a-opencl", ".question.json")
    question.write_text(question.read_text().replace('"code": 0', '"code": null'))
    Path("a-opencl", "a.plain.cl").unlink()
    again = synth("compile", "a.axb", "--backend", "opencl")
    assert "an earlier run was stopped" in again.stdout and tree(Path("a-opencl")) == whole
    Path("a.axb").write_text(MUTEX.read_text() + "\n")
    assert synth("compile", "a.axb", "--backend", "opencl").stdout.startswith("a-opencl-2: ")
    assert tree(Path("a-opencl")) == whole


def test_imported_results_go_into_the_corpus_or_need_a_name() -> None:
    assert "--output" in synth("import", "a.jsonl").stderr
