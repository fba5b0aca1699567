"""Links from page to page, in README.md and docs, name a file that is there and a heading that it has, once."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]
LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]*))?\)")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
CODE = re.compile(r"^(?:```.*?^```$| {4}[^\n]*$)", re.MULTILINE | re.DOTALL)
NAME = re.compile(r"\bdocs/[\w/-]+\.md\b")
"""How programs and their messages name a page."""


def prose(page: Path) -> str:
    """A page without its blocks of code."""
    return CODE.sub("", page.read_text(encoding="utf-8"))


def anchors(page: Path) -> set[str]:
    """What the headings of a page are called in links, as GitHub has it."""
    words = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in HEADING.findall(prose(page)))
    return {found.replace(" ", "-") for found in words}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    for name, anchor in LINK.findall(prose(page)):
        target = (page.parent / name).resolve() if name else page
        assert target.exists(), name
        assert not anchor or anchor in anchors(target), f"{name}#{anchor}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_a_heading_stands_once(page: Path) -> None:
    headings = HEADING.findall(prose(page))
    assert sorted(headings) == sorted(set(headings))


def test_pages_that_programs_name_are_there() -> None:
    folders = ("backends", "benchmarks", "constraints", "corpus", "examples", "oracle", "synth")
    files = [
        ROOT / "Makefile",
        *(each for top in folders for end in ("py", "sh") for each in (ROOT / top).rglob(f"*.{end}")),
    ]
    named = {name for file in files for name in NAME.findall(file.read_text(encoding="utf-8"))}
    assert named
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []
