"""The bar of each command: on a terminal it says what is done, how far it is, and what is waited for; else nothing."""

from __future__ import annotations

import io
import json
import re
import shlex
import shutil
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, redirect_stderr, redirect_stdout
from glob import glob
from pathlib import Path

import pytest
from click.testing import _NamedTextIOWrapper
from commands import synth
from mutant_suites import write_suite

from backends.registry import BACKENDS
from corpus import files
from corpus.awaited import awaiting, workers
from corpus.files import bounded_lines
from synth.commands import devices
from synth.commands.cli import COMMANDS
from synth.pool import run_tasks
from synth.screen import bars
from synth.screen.streams import visible_output
from synth.watch import watching

EXAMPLES = Path(__file__).parents[2] / "examples"
AT_ONCE = {"examples", "models", "edges", "completion"}
"""The commands that have nothing to wait for."""

BARS = {
    "progress": ("progress -t 2 -n 2 -o {new}", "Synthesising"),
    "memory": ("memory --from tso --events 2..2 -o {new}", "Synthesising"),
    "select": ("select suite --separate-models", "Selecting"),
    "label": ("label examples/memory/mp-weak.litmus -m sc", "Labelling"),
    "explain": ("explain examples/memory/mp-weak.litmus -m sc", "Explaining"),
    "compare": ("compare sc tso --events ..3", "Comparing"),
    "map": ("map examples/mappings/c11-to-power-trailing.map --events ..2", "Translating"),
    "validate": (
        "validate examples/memory/c-sb-sc.litmus examples/memory/c-sb-rel-acq.litmus",
        "Judging",
    ),
    "infer": ("infer cpu --from examples/inference/x86/tests.csv --events ..2", "Telling models apart"),
    "show": ("show suite", "Counting"),
    "verify": ("verify certified", "Verifying"),
    "check": ("check examples/kernels/spirv/mp-relaxed.spvasm", "Checking"),
    "fix": ("fix examples/memory/c-sb-rel-acq.litmus -m rc11", "Repairing"),
    "harden": ("harden --places 1 --run true -o {new} --rate 0.4 --runs 3", "Runs"),
    "devices": ("devices", "Trying"),
    "compile": ("compile suite --backend cpp -o {new}", "Writing"),
    "convert": ("convert examples/memory/c-sb-*.litmus --to opencl -o {new}", "Converting"),
    "export": ("export suite --to axb -o {new}", "Writing"),
    "run": ("run examples/progress/mutex.axb --backend cpp --instances 1 --iterations 1 --mapping plain", "Running"),
    "tune": ("tune --backend cpp --shapes SB --method random --budget 1", "Tuning"),
    "import": ("import mutants/results.jsonl -o {new}", "Reading"),
    "report": ("report mutants -o {new}.html", "Gathering"),
    "diff": ("diff mutants/results.jsonl other.jsonl", "Comparing"),
    "score": ("score mutants", "Scoring"),
}
"""A short line of each command, and what its bar says."""

DEVICES = {"devices", "run", "tune"}


@pytest.fixture(scope="module")
def workplace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bars")
    shutil.copytree(EXAMPLES, folder / "examples")
    synth("progress", "-t", 2, "-n", 2, "-o", folder / "suite")
    synth("progress", "-t", 2, "-n", 2, "--certify", "-o", folder / "certified")
    write_suite(folder / "mutants")
    shutil.copy(folder / "mutants" / "results.jsonl", folder / "other.jsonl")
    return folder


def words(line: str, folder: Path) -> list[str]:
    """The words of a line as a shell has them."""
    every = shlex.split(line.format(new=folder / "new"))
    return [name for word in every for name in (sorted(glob(word)) if "*" in word else [word])]


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_NamedTextIOWrapper, "isatty", lambda self: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")


LINES = [
    pytest.param(line, bar, id=name, marks=[pytest.mark.device] * (name in DEVICES))
    for name, (line, bar) in BARS.items()
]


def test_each_command_that_may_take_long_is_in_the_table() -> None:
    assert {*BARS} | AT_ONCE == {*COMMANDS}


@pytest.mark.parametrize(("line", "bar"), LINES)
def test_a_person_sees_how_far_a_command_is(
    workplace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, terminal: None, line: str, bar: str
) -> None:
    monkeypatch.chdir(workplace)
    monkeypatch.setattr(devices, "BACKENDS", {"cpp": BACKENDS["cpp"]})
    result = synth(*words(line, tmp_path))
    assert result.exit_code in (0, 1), result.output
    drawn = result.stderr.split("\r\x1b[2K")
    assert any(re.search(rf"{bar} .*━.*\d+/(\d+|\?)", each) for each in drawn), result.stderr
    assert "━" not in drawn[-1]  # each is erased


@pytest.mark.parametrize("line", [line for name, (line, _) in BARS.items() if name not in DEVICES])
def test_a_program_sees_none_of_it(workplace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    monkeypatch.chdir(workplace)
    result = synth(*words(line, tmp_path))
    assert not {*"\x1b\r━"} & {*result.output}


def test_json_is_alone(workplace: Path, monkeypatch: pytest.MonkeyPatch, terminal: None) -> None:
    monkeypatch.chdir(workplace)
    for line in ("select suite --separate-models --json", "label examples/memory/mp-weak.litmus -m sc --json"):
        result = synth(*line.split())
        assert result.stderr == "" and json.loads(result.stdout)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@contextmanager
def a_terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[Terminal]:
    """Standard error is a terminal, on which each report is drawn."""
    monkeypatch.setattr(bars, "PAUSE", 0)
    with redirect_stderr(Terminal()) as screen:
        yield screen


def uncoloured(terminal: Terminal) -> str:
    return re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", terminal.getvalue())


def test_a_bar_without_an_end_says_so(monkeypatch: pytest.MonkeyPatch, terminal: None) -> None:
    with a_terminal(monkeypatch) as screen, watching("Synthesising") as tell:
        tell(26, None, 13)
        shown = uncoloured(screen)
        assert "26/?" in shown and "13 tests" in shown and "26/26" not in shown and "ETA" not in shown
        tell(30, 2600, 15)
        shown = uncoloured(screen)
        assert "30/2600 15 tests" in shown and "ETA" in shown


def test_a_bar_with_an_end_says_how_long_it_takes(monkeypatch: pytest.MonkeyPatch, terminal: None) -> None:
    now = [0.0]
    monkeypatch.setattr("rich.console.monotonic", lambda: now[0])
    with a_terminal(monkeypatch) as screen, watching("Labelling", found=False) as tell:
        for done in range(11):
            tell(done, 100, done)
            now[0] += 1
    shown = uncoloured(screen)
    assert "Labelling" in shown and "10/100" in shown and "ETA 0:01:30" in shown and " tests" not in shown


def test_silence_where_nobody_watches(capsys: pytest.CaptureFixture[str]) -> None:
    with watching("Synthesising") as tell:
        tell(1, 2, 3)
    assert capsys.readouterr() == ("", "")


def test_what_is_waited_for_stands_below_the_bar(monkeypatch: pytest.MonkeyPatch, terminal: None) -> None:
    with a_terminal(monkeypatch) as screen, watching("Compiling", found=False) as tell:
        tell(3, 8)
        with awaiting("nvcc reduce.cu"):
            pass
    assert re.search(r"Compiling .*3/8.*ETA.*\n.*  nvcc reduce.cu", screen.getvalue())
    assert screen.getvalue().endswith("\r\x1b[2K\x1b[1A\x1b[2K")


def questions(kernel: str) -> Iterator[str]:
    with awaiting(f"{kernel}, 1x2"), awaiting("race (3 of 12)"):
        yield kernel
        time.sleep(60)


def test_what_a_worker_waits_for_is_known_to_its_parent() -> None:
    with closing(run_tasks(["reduce"], questions, 1)) as results:
        assert next(results) == ("reduce", "reduce")
        assert [each() for each in workers] == [["reduce, 1x2: race (3 of 12)"]]
    assert not workers


def test_the_bar_makes_room_for_what_is_printed(monkeypatch: pytest.MonkeyPatch, terminal: None) -> None:
    with (
        a_terminal(monkeypatch) as screen,
        redirect_stdout(screen),
        visible_output(),
        watching("Checking", found=False) as tell,
    ):
        tell(0, 2)
        print("kernel.cu: SAFE")
        tell(1, 2)
    first, line, end = screen.getvalue().split("\r\x1b[2K")
    assert "0/2" in first and line.startswith("kernel.cu: SAFE\n") and "1/2" in line and end == ""


def test_how_far_a_large_file_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, terminal: None) -> None:
    monkeypatch.setattr(files, "_LARGE", 100)
    path = tmp_path / "tests.jsonl"
    path.write_text(("x" * 1023 + "\n") * 3 * 1024)
    with a_terminal(monkeypatch) as screen, visible_output(), path.open("rb") as file:
        assert len([*bounded_lines(file)]) == 3 * 1024
    assert re.search(r"Reading tests\.jsonl, MB .*2/3", screen.getvalue())


def test_a_terminal_that_cannot_erase_has_no_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    with a_terminal(monkeypatch) as screen, watching("Compiling") as tell:
        tell(1, 2, 1)
    assert screen.getvalue() == ""
