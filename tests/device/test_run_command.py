"""``synth run`` of both families: models, results of a corpus, files that cannot be read, signals, decoding."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from amber_buffers import dump, totals
from commands import synth

from backends.registry import BACKENDS

EXAMPLES = Path(__file__).parents[2] / "examples" / "memory"
SB, MP = EXAMPLES / "c-sb-sc.litmus", EXAMPLES / "mp-acq-rel-cta.litmus"
FORWARD = "THREAD 0\n0: Mem[0] = 1;\nTHREAD 1\n0: if (Mem[0] == 0) goto 0;\n"
NEVER = "THREAD 0\n0: if (Mem[0] == 0) goto 0;\n"


@pytest.mark.device
def test_models_of_progress_tests(need: Callable[[str], None], tmp_path: Path) -> None:
    need("cpp")
    (tmp_path / "never.axb").write_text(NEVER.replace("goto 0", "goto END"))
    mine = tmp_path / "mine.py"
    mine.write_text("def guarantee(running, stepped):\n    return running\n")
    command = ("run", tmp_path / "never.axb", "--backend", "cpp", "--mapping", "plain", "--iterations", 1)
    done = synth(*command, "-m", "hsa-weak", "--model", mine, "--sound", "fair", "--json")
    assert done.exit_code == 0, done.output
    names = [each["model"] for each in json.loads(done.stdout)["models"]]
    assert names == ["hsa-weak", "mine-weak", "mine-strong", "fair-weak", "fair-strong"]
    unknown = synth(*command, "-m", "sc")
    assert unknown.exit_code == 2 and "sc is a consistency model" in unknown.stderr


@pytest.mark.device
def test_a_model_of_progress_tests_that_is_not_sound(need: Callable[[str], None], tmp_path: Path) -> None:
    """A result that a device gave is contradicted by a model under which the test terminates."""
    need("cpp")
    (tmp_path / "forward.axb").write_text(FORWARD)
    results = tmp_path / "results.jsonl"
    command = ("run", tmp_path / "forward.axb", "--backend", "cpp", "--mapping", "plain", "--iterations", 1)
    assert synth(*command, "-o", results).exit_code == 0
    hang = results.read_text().replace('"outcomes":"T"', '"outcomes":"H","tries":["H","H","H"]')
    results.write_text(hang)
    assert synth(*command, "-o", results).exit_code == 0
    done = synth(*command, "-o", results, "--sound", "fair-weak")
    assert done.exit_code == 1 and "fair-weak is not sound here: forward was seen to hang" in done.stderr


@pytest.mark.device
def test_results_of_a_memory_suite_stay_in_it(need: Callable[[str], None], tmp_path: Path) -> None:
    need("cpp")
    suite = tmp_path / "suite"
    made = synth("memory", "--edges", "PodWR Fre", "-m", "sc", "-j", 1, "-o", suite)
    assert made.exit_code == 0, made.output
    command = ("run", suite, "--backend", "cpp", "--iterations", 1, "--instances", 512, "-m", "sc")
    for _ in range(2):
        done = synth(*command)
        assert done.exit_code == 0, done.output
        lines = (suite / "results.jsonl").read_text().splitlines()
        assert lines and len({json.loads(line)["test"] for line in lines}) == len(lines)


@pytest.mark.device
@pytest.mark.parametrize(("suffix", "good"), [("litmus", SB.read_text()), ("axb", FORWARD)])
@pytest.mark.parametrize("command", ["run", "compile"])
def test_one_unreadable_file_of_a_folder(
    command: str, suffix: str, good: str, need: Callable[[str], None], tmp_path: Path
) -> None:
    need("cpp")
    folder = tmp_path / "tests"
    folder.mkdir()
    (folder / f"good.{suffix}").write_text(good)
    (folder / f"bad.{suffix}").write_text("nonsense")
    (folder / f"binary.{suffix}").write_bytes(b"\xff")
    (folder / f"folder.{suffix}").mkdir()
    options = {
        "run": ["--iterations", 1, "--instances", 512, "-o", tmp_path / "results.jsonl"],
        "compile": ["-o", tmp_path / "out"],
    }[command]
    done = synth(command, folder, "--backend", "cpp", *options)
    assert done.exit_code == 1, done.output
    for bad in ("bad", "binary"):
        assert len([line for line in done.stderr.splitlines() if f"{bad}.{suffix}" in line]) == 1
    written = (tmp_path / "results.jsonl").read_text() if command == "run" else list((tmp_path / "out").iterdir())
    assert written
    alone = synth(
        command, folder / f"bad.{suffix}", "--backend", "cpp", *options, *["--force"] * (command == "compile")
    )
    assert alone.exit_code == 2 and alone.stderr.count("\n") == 1


@pytest.mark.parametrize("timeout", ["nan", "1e18", "inf", "0", "-1"])
def test_time_outs_that_are_none(timeout: str, tmp_path: Path) -> None:
    (tmp_path / "t.axb").write_text(FORWARD)
    done = synth("run", tmp_path / "t.axb", "--backend", "cpp", "--timeout", timeout)
    assert done.exit_code == 2 and done.stderr.count("\n") == 1 and "--timeout" in done.stderr


@pytest.mark.device
def test_a_run_that_is_told_to_end_leaves_nothing(need: Callable[[str], None], tmp_path: Path) -> None:
    need("cpp")
    (tmp_path / "never.axb").write_text(NEVER)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    program = "from synth.commands.cli import main; main()"
    command = [
        sys.executable,
        "-c",
        program,
        "run",
        str(tmp_path / "never.axb"),
        "--backend",
        "cpp",
        "--timeout",
        "300",
    ]
    with subprocess.Popen(
        command, env={**os.environ, "TMPDIR": str(temporary)}, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL
    ) as process:
        for _ in range(600):
            if list(temporary.glob("synth-run-*/*/program")):
                break
            time.sleep(0.1)
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGTERM, said
    assert list(temporary.iterdir()) == []


def test_what_amber_wrote_is_compared_with_models(tmp_path: Path) -> None:
    outcomes, results = tmp_path / "outcomes.txt", tmp_path / "results.jsonl"
    outcomes.write_text(dump(totals([100, 0, 0], [28, 1, 0])))
    command = ("run", MP, "--backend", "glsl", "--decode", outcomes, "-o", results, "-m", "sc")
    for _ in range(2):
        done = synth(*command, "--json")
        assert done.exit_code == 0, done.output
        (line,) = results.read_text().splitlines()
    record = json.loads(line)
    assert (record["backend"], record["device"]) == ("glsl", "outcomes.txt, written elsewhere")
    assert (record["instances"], record["launches"], record["outcomes"]) == (64, 2, [[[0, 0], 100], [[1, 0], 28]])
    (test,) = json.loads(done.stdout)["tests"]
    assert {tuple(row["values"]): row["forbidden_by"] for row in test["outcomes"]}[1, 0] == ["sc"]
    unsound = synth(*command, "--sound", "sc")
    assert unsound.exit_code == 1 and "sc is not sound here" in unsound.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((MP, SB, "--backend", "glsl", "--decode", "x"), "reads the outcomes of one test, and 2 are named"),
        ((MP, "--backend", "cpp", "--decode", "x"), "cpp tests are run here"),
        ((MP, "--backend", "glsl", "--decode", f"{__file__}.none"), f"{__file__}.none: cannot read"),
        ((EXAMPLES.parent / "progress" / "mutex.axb", "--backend", "glsl", "--decode", "x"), "--decode is for litmus"),
        ((SB, "--backend", "glsl", "--decode", __file__), f"{__file__}:1:1: expected the name of a buffer"),
    ],
)
def test_nothing_to_decode(arguments: tuple[object, ...], message: str) -> None:
    done = synth("run", *arguments)
    assert done.exit_code == 2 and message in done.stderr and done.stderr.count("\n") == 1


def test_a_language_that_runs_elsewhere_is_only_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(BACKENDS, "glsl", replace(BACKENDS["glsl"], device=None))
    done = synth("run", MP, "--backend", "glsl")
    assert done.exit_code == 2 and "glsl tests are run elsewhere; --decode FILE" in done.stderr


@pytest.mark.device
def test_a_check_that_is_told_to_end_leaves_nothing_in_the_temporary_folder(
    need: Callable[[str], None], tmp_path: Path
) -> None:
    need("cpp")
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    files = sorted(map(str, EXAMPLES.glob("*.litmus")))
    arguments = ["compile", *files, "--backend", "cpp", "--check", "-o", str(tmp_path / "out")]
    command = [sys.executable, "-c", "from synth.commands.cli import main; main()", *arguments]
    with subprocess.Popen(command, env={**os.environ, "TMPDIR": str(temporary)}, stderr=subprocess.PIPE) as process:
        for _ in range(600):
            if list(temporary.iterdir()):
                break
            time.sleep(0.1)
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=120)
    assert process.returncode == 128 + signal.SIGTERM, said
    assert list(temporary.iterdir()) == []


@pytest.mark.device
def test_known_failures_do_not_fail_a_run(need: Callable[[str], None], tmp_path: Path) -> None:
    """The outcome that SC forbids is written into the results, so that it is seen whatever the machine does."""
    need("cpp")
    results, table, report = tmp_path / "r.jsonl", tmp_path / "known.csv", tmp_path / "j.xml"
    command = ("run", "examples/memory/c-sb-sc.litmus", "--backend", "cpp", "--iterations", 1, "--instances", 64)
    assert synth(*command, "-o", results).exit_code == 0
    line = json.loads(results.read_text())
    results.write_text(json.dumps(line | {"outcomes": [[[0, 0], 64]]}, separators=(",", ":")) + "\n")
    run = (*command, "-o", results, "--sound", "sc")
    assert synth(*run).exit_code == 1
    name = line["test"]
    table.write_text(f"test,where,reason\n{name},cpp.*,bug 4711\ngone,,\n")
    done = synth(*run, "--known", table, "--junit", report)
    assert done.exit_code == 0, done.output
    assert "known: " in done.stderr and "not sound here" not in done.stderr
    assert 'skipped="1"' in report.read_text() and "known failure, bug 4711" in report.read_text()
    table.write_text(f"test,where,reason\n{name},cuda.*,another device\n")
    assert synth(*run, "--known", table).exit_code == 1
