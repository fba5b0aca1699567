"""The tutorials of docs/tutorial as commands and what they print.

A block of ``console`` has commands behind ``$``, their further lines behind ``>``, and what they print, errors too;
``...`` stands for anything, in a line or in the place of several.
"""

from __future__ import annotations

import doctest
import re
from collections.abc import Callable
from pathlib import Path

PAGES = sorted((Path(__file__).parents[1] / "docs" / "tutorial").glob("*.md"))

_STEP = re.compile(r"^\$ (?P<command>[^\n]*\n(?:> ?[^\n]*\n)*)(?P<shown>(?:(?!\$ |```)[^\n]*\n)*)", re.MULTILINE)
_BLOCK = re.compile(r"(?<=^```console\n).*?(?=^```$)", re.MULTILINE | re.DOTALL)


def followed(text: str, run: Callable[[str], str]) -> tuple[str, list[str]]:
    """A page with each command run, in its order: what it should show, and each step that shows something else."""
    wrong = []

    def step(match: re.Match[str]) -> str:
        command = re.sub(r"\n> ?", "\n", match["command"])
        printed = "".join(f"{line.rstrip()}\n" for line in run(command).splitlines())
        if doctest.OutputChecker().check_output(match["shown"], printed, doctest.ELLIPSIS):
            return match[0]
        wrong.append(f"$ {command}{printed}")
        return f"$ {match['command']}{printed}"

    return _BLOCK.sub(lambda block: _STEP.sub(step, block[0]), text), wrong
