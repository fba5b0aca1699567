"""The documentation as a site: links lead somewhere, every page and command is in it, and nothing is loaded."""

from __future__ import annotations

import re
import tomllib
from html import unescape
from pathlib import Path
from types import ModuleType
from urllib.parse import unquote, urlparse

import pytest
from scripts import script

from synth.commands.cli import COMMANDS

ROOT = Path(__file__).parents[2]
LOADED = re.compile(r"<(?:script|img|iframe|link)\b[^>]*?(?:src|href)=[\"']?(?:https?:)?//")
REFERRED = re.compile(r"(?:src|href)=[\"']?([^\"' >]+)")


@pytest.fixture(scope="module")
def pages() -> ModuleType:
    return script("pages")


@pytest.fixture(scope="module")
def site(pages: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out: Path = tmp_path_factory.mktemp("docs") / "site"
    assert pages.build(out) == ""
    return out


def test_what_a_page_refers_to_is_there_and_is_not_loaded_from_elsewhere(site: Path) -> None:
    found = sorted(site.rglob("*.html"))
    for page in found:
        text = page.read_text(encoding="utf-8")
        assert not LOADED.search(text), page.name
        if page.name == "404.html":  # its addresses are those of a server's root
            continue
        for reference in REFERRED.findall(text):
            path = urlparse(reference)
            assert path.scheme or not path.path or (page.parent / unquote(path.path)).exists(), (page.name, reference)
    assert len(found) > 30


def test_the_help_of_every_command_is_a_section(site: Path) -> None:
    text = (site / "commands.html").read_text(encoding="utf-8")
    assert re.findall(r'<h2 id="synth-(\w+)"', text) == list(COMMANDS)
    for part in ("--separate-models", "synth label examples/progress/*.axb", 'href="oracle.html"'):
        assert part in re.sub(r"</?span[^>]*>", "", text)


def test_tables_have_bars_in_code(site: Path) -> None:
    for page in site.rglob("*.html"):
        assert not re.search(r"<td>[^\n]*\\\|", page.read_text(encoding="utf-8")), page.name
    assert "<td><code>--cost FILE|TARGET</code></td>" in (site / "commands.html").read_text(encoding="utf-8")


def test_lists_are_lists(site: Path) -> None:
    """Markdown that only GitHub takes for one is a paragraph with hyphens here."""
    for page in site.rglob("*.html"):
        code = re.sub(r"<pre.*?</pre>", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        assert not re.search(r"^\s*[-*] \S", code, re.MULTILINE), page.name


def test_every_page_is_in_the_navigation(pages: ModuleType) -> None:
    def named(entries: list[object]) -> list[str]:
        values = [value for entry in entries for value in entry.values()]  # type: ignore[attr-defined]
        return [name for value in values for name in (named(value) if isinstance(value, list) else [value])]

    listed = named(tomllib.loads((ROOT / "docs" / "site.toml").read_text(encoding="utf-8"))["project"]["nav"])
    inner = {page for page in pages.pages().values() if not re.match(r"adr/0|results/", page)}
    decisions = (ROOT / "docs" / "adr" / "README.md").read_text(encoding="utf-8")
    assert sorted(listed) == sorted({*inner, pages.REFERENCE})
    assert all(path.name in decisions for path in (ROOT / "docs" / "adr").glob("0*.md"))


def test_links_are_those_of_the_site(pages: ModuleType) -> None:
    there = pages.pages()
    text = "[a](../README.md#start) [b](running.md) [c](../LICENSE)\n\n    [d](running.md)\n"
    expected = "[a](index.md#start) [b](running.md) [c](files/LICENSE)\n\n    [d](running.md)\n"
    assert pages.linked(text, "docs/backends.md", there) == (expected, {"LICENSE"})
    assert pages.linked("| `a \\| b` | c \\| d |\n", "README.md", there)[0] == "| `a | b` | c \\| d |\n"
    assert pages.linked("[a](../install.md)", "docs/adr/README.md", there) == ("[a](../install.md)", set())
    with pytest.raises(ValueError, match="is a folder"):
        pages.linked("[a](docs)", "README.md", there)


def test_links_are_called_what_they_lead_to(pages: ModuleType, site: Path) -> None:
    there = pages.pages()
    text = "[scale.md](scale.md) [internals.md](internals.md#the-tree) [2](adr/0002-units-and-journal.md) [b](c.md)"
    titles = [pages.titles(name)[""] for name in ("docs/scale.md", "docs/adr/0002-units-and-journal.md")]
    said = pages.linked(text, "docs/backends.md", there)[0]
    assert re.findall(r"\[([^]]*)\]", said) == [titles[0], "The tree", titles[1], "b"]
    for page in site.rglob("*.html"):
        words = re.findall(r"<a [^>]*>(.*?)</a>", page.read_text(encoding="utf-8"), re.DOTALL)
        told = [unescape(re.sub(r"<[^>]*>", "", each)).strip().lower() for each in words]
        assert not [each for each in told if each.endswith(".md") or each in ("here", "this", "link")], page.name


def test_terms_lead_to_the_glossary(pages: ModuleType, site: Path) -> None:
    anchors = re.findall(r'<strong id="([\w-]+)">', (site / "glossary.html").read_text(encoding="utf-8"))
    entries = pages.ENTRY.findall((ROOT / pages.GLOSSARY).read_text(encoding="utf-8"))
    assert len(anchors) == len(set(anchors)) == len(entries) > 150
    everyday = pages.EVERYDAY.read_text(encoding="utf-8").split()
    words = {pages.slug(term) for entry in entries for term in entry.split(", ")}
    assert everyday == sorted(set(everyday)) and set(everyday) <= words
    for page in site.rglob("*.html"):
        led = re.findall(r'href="[^"]*glossary\.html#([\w-]+)">[^<]', page.read_text(encoding="utf-8"))
        headings = {pages.slug(each) for each in pages.titles(pages.GLOSSARY).values()}
        assert set(led) <= {*anchors, *headings}, page.name
        assert page.name != "running.html" or len(led) > 10


def test_the_first_use_of_a_term_is_a_link(pages: ModuleType) -> None:
    text = """# Litmus tests
`litmus test` [a litmus test](x.md) *litmus
tests*, litmus test. In order, two lassos-like

    litmus test, warp

| warp |
|---|
| fence, work-groups, weak behaviours |
"""
    expected = text.replace("*litmus\ntests*", "*[litmus\ntests](../glossary.md#litmus-test)*")
    for words, name in (("fence", "fence"), ("work-groups", "work-group"), ("weak behaviours", "weak-behaviour")):
        expected = expected.replace(words, f"[{words}](../glossary.md#{name})")
    expected = expected.replace("| warp |", "| [warp](../glossary.md#warp) |")
    assert pages.with_terms(text, "tutorial/x.md") == expected


@pytest.mark.parametrize(
    ("code", "typed"),
    [
        ("$ a\nout\n$ b <<'END'\n> x\n>\n> END\n> no\n...\n$ c", "a\nb <<'END'\nx\n\nEND\nno\nc"),
        (">>> for x in y:\n...     x\n...\n1\n>>> z", "for x in y:\n    x\n\nz"),
        ("synth a \\\n    -b\nsynth c\n\nout\n\nmore\n\nsynth d\n\n1", "synth a \\\n    -b\nsynth c\n\nsynth d"),
        ('{"a": 1}\n\nsynth a', '{"a": 1}\n\nsynth a'),
        ("$5", "$5"),
    ],
)
def test_only_what_is_typed_is_copied(pages: ModuleType, code: str, typed: str) -> None:
    assert pages.typed(code) == typed


@pytest.mark.parametrize("link", ["nowhere.md", "install.md#nowhere", "#nowhere"])
def test_a_link_that_leads_nowhere_is_refused(pages: ModuleType, tmp_path: Path, link: str) -> None:
    pages.write(tmp_path / "docs" / "index.md", f"# Start\n\n[there]({link})\n")
    pages.write(tmp_path / "docs" / "install.md", "# Installing\n")
    configuration = pages.CONFIGURATION.read_text(encoding="utf-8")
    pages.write(tmp_path / pages.CONFIGURATION.name, re.sub(r"nav = \[.*?^\]\n", "", configuration, flags=re.M | re.S))
    wrong = pages.made(tmp_path)
    assert "index.md:3:" in wrong and "does not exist" in wrong
