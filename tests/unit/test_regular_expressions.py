"""The regular expressions of readers mean on every Python what they say."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
POSSESSIVE = re.compile(r"\)[*+?}]\+")
"""A group that is repeated possessively: Python 3.11.2 does not go back to where its last round began to fail."""


def test_no_group_is_repeated_possessively():
    code = [
        file
        for room in ("backends", "constraints", "corpus", "oracle", "synth")
        for file in (ROOT / room).rglob("*.py")
    ]
    found = {
        f"{file.relative_to(ROOT)}:{number}"
        for file in code
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
        if POSSESSIVE.search(line) and ('r"' in line or "rb" in line or "(?" in line)
    }
    assert not found
