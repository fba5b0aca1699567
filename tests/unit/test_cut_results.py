"""A file of results that was cut in half is, to every command that reads it, the whole lines that it has."""

from __future__ import annotations

from pathlib import Path

import pytest
from commands import synth
from msgspec.structs import replace

from backends.shared.results import read_results
from tests.mutant_suites import write_results as write_mutants_results
from tests.mutant_suites import write_suite as write_mutants
from tests.reported import entries, memory_test, progress_tests, write_all, write_results

COMMANDS = {
    "report": "report progress memory R --json",
    "import": "import R -o all.jsonl",
    "import into": "import a.jsonl -o R",
    "diff": "diff a.jsonl R",
    "score": "score tso R --json",
    "select": "select tso R --score --budget 60 --json",
}


NEEDED = {"diff": 3, "score": 1, "select": 1}
"""Commands that refuse results of which they have nothing to say: how many lines they need. ``a.jsonl`` lacks two."""


def given(
    folder: Path, name: str, cut: bool, lines: int, monkeypatch: pytest.MonkeyPatch
) -> tuple[str, dict[str, bytes]]:
    """What a command printed, and the files of results that are there then; not the one that is only read."""
    monkeypatch.chdir(folder)
    done = synth(*COMMANDS[name].replace("R", "r.jsonl").split())
    assert done.exit_code == (2 if lines < NEEDED.get(name, 0) else 0), done.output
    assert done.stderr.count("the last line was cut off, and is left out") == cut
    files = {file.name: file.read_bytes() for file in folder.glob("*.jsonl")}
    return done.stdout, {file: data for file, data in files.items() if file != "r.jsonl" or name == "import into"}


@pytest.mark.parametrize("part", [0.1, 0.5, 0.99])
@pytest.mark.parametrize("name", COMMANDS)
def test_a_file_cut_in_half(name: str, part: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = []
    for place in ("cut", "whole"):
        folder = tmp_path / place
        write_all(folder)
        write_mutants(folder / "tso")
        later = [replace(entry, date="2026-12-01T00:00:00Z") for entry in entries(*progress_tests(), memory_test())]
        write_results(folder / "a.jsonl", later[2:])
        file = folder / "r.jsonl"
        if name in ("score", "select"):
            write_mutants_results(file)
        else:
            write_results(file, entries(*progress_tests(), memory_test()))
        data = file.read_bytes()
        cut = data[: int(part * len(data))]
        assert not cut.endswith(b"\n")
        lines = cut[: cut.rfind(b"\n") + 1]
        file.write_bytes(cut if place == "cut" else lines)
        assert len(read_results(file)) == lines.count(b"\n")
        told.append(given(folder, name, place == "cut", lines.count(b"\n"), monkeypatch))
    assert told[0] == told[1]
