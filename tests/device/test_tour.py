"""The tour of README, walked: each command in order, in one folder, as a person types it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOUR = (ROOT / "README.md").read_text(encoding="utf-8").partition("## A tour\n")[2].partition("\n## ")[0]
COMMANDS = [line.strip() for line in TOUR.splitlines() if line.startswith("    synth ")]
FINDINGS = ("compare", "map", "diff")
"""Commands whose exit code is 1 there, for they find something."""


@pytest.mark.device
def test_the_tour_of_the_readme(need: Callable[..., object], tmp_path: Path) -> None:
    need("opencl")
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    program = tmp_path / "bin" / "synth"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -P -m synth "$@"\n')
    program.chmod(0o755)
    env = os.environ | {"PATH": f"{program.parent}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    assert len(COMMANDS) >= 19
    for command in COMMANDS:
        words = ["bash", "-c", re.sub(r"\s+#.*", "", command)]
        done = subprocess.run(words, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
        found = command.split()[1] in FINDINGS
        assert done.returncode == found, (command, done.stdout[-500:], done.stderr[-500:])
        assert "Traceback" not in done.stderr, command
