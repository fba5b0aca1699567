"""The tutorials of docs/tutorial: every command in them runs, one after the other, and prints what the page shows.

A block of ``console`` has commands behind ``$``, their further lines behind ``>``, and what they print, errors too;
``...`` stands for anything, in a line or in the place of several. ``pytest --promote`` writes what was printed where
the page differs.
"""

from __future__ import annotations

import doctest
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable
from glob import glob
from pathlib import Path

import pytest
from click.testing import CliRunner

from synth.cli import main

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs" / "tutorial").glob("*.md"))
STEP = re.compile(r"^\$ (?P<command>[^\n]*\n(?:> ?[^\n]*\n)*)(?P<shown>(?:(?!\$ |```)[^\n]*\n)*)", re.MULTILINE)
BLOCK = re.compile(r"(?<=^```console\n).*?(?=^```$)", re.MULTILINE | re.DOTALL)


def run(command: str) -> str:
    """What a command prints. Synth's run in this process, for that is quicker; all others in a shell."""
    if command.startswith("synth ") and not re.search(r"[|<>;]", re.sub(r"'[^']*'", "", command)):
        words = [part for word in shlex.split(command)[1:] for part in (sorted(glob(word)) if "*" in word else [word])]
        result = CliRunner().invoke(main, words, prog_name="synth")
        assert result.exit_code in (0, 1) and not result.stderr.startswith("synth"), f"{command}: {result.output}"
        return result.output
    done = subprocess.run(["bash", "-ec", command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, f"{command}: {done.stdout}"
    return done.stdout


def tidy(text: str) -> str:
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines())


def right(shown: str, printed: str) -> bool:
    return doctest.OutputChecker().check_output(shown, printed, doctest.ELLIPSIS)


@pytest.mark.device
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_commands_print_what_the_page_shows(
    page: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    need: Callable[..., None],
    request: pytest.FixtureRequest,
) -> None:
    if page.stem == "conformance":
        need("cpp", runs=True)
    monkeypatch.chdir(tmp_path)
    text = page.read_text(encoding="utf-8")
    wrong = []

    def step(match: re.Match[str]) -> str:
        command = re.sub(r"\n> ?", "\n", match["command"])
        printed = tidy(run(command))
        if right(match["shown"], printed):
            return match[0]
        wrong.append(f"$ {command}{printed}")
        return f"$ {match['command']}{printed}"

    promoted = BLOCK.sub(lambda block: STEP.sub(step, block[0]), text)
    if request.config.getoption("--promote"):
        page.write_text(promoted, encoding="utf-8")
    else:
        assert wrong == [], "pytest --promote writes the page anew"


def test_the_check_can_fail() -> None:
    assert right("a\n...\nd\n", "a\nb\nc\nd\n") and right("a ... 3\n", "a 2 3\n")
    assert not right("a\n", "a\nb\n") and not right("", "a\n")
    steps = [(step["command"], step["shown"]) for step in STEP.finditer("$ cat <<E\n> a\n> E\na\n$ b\n")]
    assert steps == [("cat <<E\n> a\n> E\n", "a\n"), ("b\n", "")]
    with pytest.raises(AssertionError, match="no-such"):
        run("synth show no-such")
    assert shutil.which("bash")
