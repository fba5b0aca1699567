"""What ``synth check --leaks`` says of programs with one leak each, and of what is right beside it (leak_traps.csv).

A row has the lines that ask for memory which is never given back; ``?``: there is no answer, for a thread that never
ends may have it, or a variable of main's. All ways of asking agree: grown executions, a solver, and listed executions
where these are not too many. So does LeakSanitizer, where gcc has it: what it finds in a run is found, and in what is
right it finds nothing.
"""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from absent import absent
from commands import synth

HERE = Path(__file__).parent
FOLDER = HERE / "leak_traps"
SLOWLY = {**os.environ, "LSAN_OPTIONS": "fast_unwind_on_malloc=0"}
"""The C++ library keeps no frame pointers, and LeakSanitizer is to find its callers."""

LUCKY = {"handed-wrong.c", "once-wrong.c"}
"""Programs that lose memory only where threads take turns as they seldom do."""

TOO_MANY = ("too many", "more than", "no execution")
"""Words of reasons why executions are not listed."""

with (HERE / "leak_traps.csv").open(encoding="utf-8", newline="") as _file:
    TABLE = {row["file"]: row["leak"] for row in csv.DictReader(_file)}


def lines_of(text):
    return {*map(int, text.replace("?", "").split())}


def test_each_program_has_a_row():
    assert {path.name for path in FOLDER.iterdir()} == {*TABLE}
    for name, leak in TABLE.items():
        assert bool(leak) == Path(name).stem.endswith("-wrong"), name


@pytest.mark.parametrize("name", TABLE)
@pytest.mark.parametrize(
    "method", ["auto", pytest.param("sat", marks=pytest.mark.rest), pytest.param("enumerate", marks=pytest.mark.rest)]
)
def test_leaks(name, method):
    words = ("--leaks", "-m", "rc11", "--method", method, "--format", "jsonl", "--jobs", 1, "--timeout", 60)
    one = json.loads(synth("check", FOLDER / name, *words).stdout)
    reasons = [*one.get("reasons", ()), one.get("problem", "")]
    if method == "enumerate" and any(why in reason for why in TOO_MANY for reason in reasons):
        assert one["answers"].get("leak", "UNKNOWN") == "UNKNOWN" and not one["findings"]
        return
    found = {(finding["kind"], line["line"]) for finding in one["findings"] for line in finding["lines"]}
    assert found == {("leak", line) for line in lines_of(TABLE[name])}
    wanted = "UNKNOWN" if TABLE[name] == "?" else "FOUND" if TABLE[name] else "SAFE"
    assert one["answers"]["leak"] == wanted
    assert {answer for kind, answer in one["answers"].items() if kind != "leak"} == {"SAFE"}


@pytest.mark.rest
@pytest.mark.parametrize("name", TABLE)
def test_leaksanitizer_agrees(name, tmp_path):
    compiler, standard = ("gcc", "gnu17") if name.endswith(".c") else ("g++", "c++20")
    if shutil.which(compiler) is None:
        absent(f"{compiler} is needed")
    command = [compiler, "-w", "-g", "-O0", f"-std={standard}", "-fsanitize=leak", "-pthread", FOLDER / name]
    if subprocess.run([*command, "-o", tmp_path / "program"], capture_output=True, check=False).returncode != 0:
        absent(f"{compiler} has no LeakSanitizer")
    found = set()
    for _ in range(3):
        done = subprocess.run(
            [tmp_path / "program"], capture_output=True, text=True, timeout=60, env=SLOWLY, check=False
        )
        if "fatal error" in done.stderr:  # as where a debugger watches
            absent("LeakSanitizer does not run here")
        assert done.returncode in (0, 23), done.stderr
        for leak in re.split(r"(?:Direct|Indirect) leak of", done.stderr)[1:]:
            found.add(int(re.search(rf"/{re.escape(name)}:(\d+)", leak)[1]))
    assert found <= lines_of(TABLE[name]) or TABLE[name] == "?"
    assert bool(found) == bool(TABLE[name]) or name in LUCKY
