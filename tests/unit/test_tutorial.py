"""The tutorials: every command in them runs, one after the other, and prints what the page shows (tests/tutorials.py).

``pytest --promote`` writes what was printed where the page differs.
"""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Callable
from glob import glob
from pathlib import Path

import pytest
from commands import synth
from tutorials import PAGES, followed

NEEDED = {"application": "cuda", "conformance": "cpp"}
"""The compilers that pages need."""


def run(command: str) -> str:
    """What a command prints. Synth's run in this process, for that is quicker; all others in a shell."""
    if command.startswith("synth ") and not re.search(r"[|<>;]", re.sub(r"'[^']*'", "", command)):
        words = [part for word in shlex.split(command)[1:] for part in (sorted(glob(word)) if "*" in word else [word])]
        result = synth(*words)
        assert result.exit_code in (0, 1) and not result.stderr.startswith("synth"), f"{command}: {result.output}"
        return result.output
    done = subprocess.run(["bash", "-ec", command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, f"{command}: {done.stdout}"
    return done.stdout


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=[pytest.mark.device] * (page.stem in NEEDED), id=page.stem) for page in PAGES],
)
def test_the_commands_print_what_the_page_shows(
    page: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    need: Callable[..., None],
    request: pytest.FixtureRequest,
) -> None:
    if page.stem in NEEDED:
        need(NEEDED[page.stem], runs=page.stem == "conformance")
    monkeypatch.chdir(tmp_path)
    promoted, wrong = followed(page.read_text(encoding="utf-8"), run)
    pictures = [page.parent / name for name in re.findall(r"!\[[^\]]+\]\((\S+)\)", promoted)]
    if request.config.getoption("--promote"):
        page.write_text(promoted, encoding="utf-8")
        for picture in pictures:
            picture.write_bytes(Path(picture.name).read_bytes())
    else:
        assert wrong == [], "pytest --promote writes the page anew"
        assert [picture for picture in pictures if picture.read_bytes() != Path(picture.name).read_bytes()] == []


def test_the_check_can_fail() -> None:
    page = "$ not this\n```console\n$ cat <<E\n> a\n>  b\n> E\na\n...\n$ d\n1 ... 3\n```\n"
    said = {"cat <<E\na\n b\nE\n": "a \n b\n", "d\n": "1 2 3\n"}
    assert followed(page, said.__getitem__) == (page, [])
    said["d\n"] = "1 2\n"
    assert followed(page, said.__getitem__) == (page.replace("1 ... 3", "1 2"), ["$ d\n1 2\n"])
    with pytest.raises(AssertionError, match="no-such"):
        run("synth show no-such")
