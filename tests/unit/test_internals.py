"""The tree in docs/internals.md is that of the packages, with what each module says of itself."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from textwrap import shorten

import pytest

ROOT = Path(__file__).parents[2]
DOCUMENT = ROOT / "docs" / "internals.md"
BEGIN, END = "<!-- tree -->\n```\n", "```\n<!-- end -->\n"
PACKAGES = ("corpus", "oracle", "constraints", "backends", "synth")


def summary(path: Path) -> str:
    """The first sentence of a module's docstring, on one line."""
    text = " ".join((ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").split("\n\n")[0].split())
    sentence = re.split(r"(?<! al)\.(?: |$)", text)[0].replace("``", "")
    return shorten(sentence, 88, placeholder=" ..")


def listing(folder: Path, depth: int = 0) -> list[str]:
    """A line for a folder and each module in it, files first."""
    lines = [f"{'  ' * depth}{folder.name}/".ljust(32) + summary(folder / "__init__.py")]
    for file in sorted(folder.glob("*.py")):
        if file.name != "__init__.py":
            lines.append(f"{'  ' * (depth + 1)}{file.name}".ljust(32) + summary(file))
    for inner in sorted(path for path in folder.iterdir() if (path / "__init__.py").is_file()):
        lines += listing(inner, depth + 1)
    return lines


def test_the_tree_is_that_of_the_packages(request: pytest.FixtureRequest) -> None:
    tree = "\n".join(line for package in PACKAGES for line in listing(ROOT / package)) + "\n"
    text = DOCUMENT.read_text(encoding="utf-8")
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    assert begin and end
    if request.config.getoption("--promote"):
        DOCUMENT.write_text(before + begin + tree + end + after, encoding="utf-8")
    else:
        assert text == before + begin + tree + end + after, "pytest --promote writes the tree anew"


def test_every_module_says_what_it_is() -> None:
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            assert summary(path), path
