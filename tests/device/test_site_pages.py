"""The pages of the documentation in a real browser: nothing is cut, buttons copy commands, a file can be searched."""

from __future__ import annotations

from pathlib import Path

import pytest
from chromium import CUT, Pages
from scripts import script

pytestmark = pytest.mark.device


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out: Path = tmp_path_factory.mktemp("docs") / "site"
    assert script("pages").build(out) == ""
    return out


@pytest.mark.parametrize("width", [320, 480, 768, 1280])
def test_no_line_is_cut_at_any_width(open_page: Pages, site: Path, width: int) -> None:
    page = open_page(site / "index.html", viewport={"width": width, "height": 800})
    for name in ("index", "commands", "progress", "adr/0008-programs"):
        page.goto((site / f"{name}.html").as_uri())
        assert page.evaluate(CUT) == [], name


def test_no_line_of_any_page_is_cut(open_page: Pages, site: Path) -> None:
    page = open_page(site / "index.html", viewport={"width": 320, "height": 800})
    for file in sorted({*site.rglob("*.html")} - {site / "404.html"}):  # its addresses are those of a server's root
        page.goto(file.as_uri())
        assert page.evaluate(CUT) == [], file.name


def test_what_is_cut_is_found(open_page: Pages, tmp_path: Path) -> None:
    wide = '<p style="width: 2000px">words</p>'
    boxes = [f'<div style="overflow: {how}">{wide}</div>' for how in ("auto", "hidden", "visible")]
    (tmp_path / "x.html").write_text(f"<main>{''.join(boxes)}</main>")
    found = open_page(tmp_path / "x.html").evaluate(CUT)
    assert sorted(each.partition(":")[0] for each in found) == ["DIV", "P", "P", "the page"]


def test_the_button_copies_commands(open_page: Pages, site: Path) -> None:
    page = open_page(site / "tutorial" / "specification.html", permissions=["clipboard-read", "clipboard-write"])
    block = page.locator(".highlight", has_text="mine.cat <<").first
    block.hover()
    block.get_by_role("button").click()
    lines = page.evaluate("navigator.clipboard.readText()").split("\n")
    assert lines[:2] == ["synth examples", "cat > mine.cat <<'END'"] and "END" in lines
    assert lines[-1].startswith("synth label ") and not any(line.startswith(("$", ">", "test ")) for line in lines)


def test_a_file_is_searched(open_page: Pages, site: Path) -> None:
    page = open_page(site / "adr" / "index.html")
    page.locator(".md-search__button").click()
    page.locator("input:visible").fill("lasso")
    page.get_by_text("Progress of real programs").first.wait_for()
    page.keyboard.press("Enter")
    page.wait_for_url("**h=lasso*")
    page.locator("mark").first.wait_for()
