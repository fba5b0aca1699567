"""The page of a report in a real browser: it draws, filters, opens tests, obeys the keyboard, and logs no error."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from chromium import CUT, Pages
from commands import synth
from reported import HOSTILE, progress_result, progress_tests, write_all, write_results, write_suite

pytestmark = pytest.mark.device


def report(*words: str | Path) -> None:
    told = synth("report", *words)
    assert told.exit_code == 0, told.output


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both families, with a test whose name would be a script."""
    folder = tmp_path_factory.mktemp("report")
    report(*write_all(folder, (HOSTILE, "mutex")), "-o", folder / "report.html", "--title", HOSTILE)
    return folder / "report.html"


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory, progress_suite: Callable[[str, str], Path]) -> Path:
    """The 6,610 tests of 2x4, which nobody ran."""
    file = tmp_path_factory.mktemp("explorer") / "explorer.html"
    report(progress_suite("2x4", "--all"), "-o", file, "--explain", "3")
    return file


def rows(page: Any) -> list[str]:
    return [row.inner_text() for row in page.locator(".body .line .name").all()]


def said(page: Any) -> str:
    return str(page.locator("[aria-live]").inner_text())


def test_the_overview(open_page: Pages, small: Path) -> None:
    page = open_page(small)
    assert page.locator("h1").inner_text() == HOSTILE and page.title() == HOSTILE
    assert page.locator("h2").all_inner_texts() == [
        "In short",
        "Progress models and devices",
        "Which fairness each device gives",
        "Memory models and devices",
        "Devices",
    ]
    assert page.locator("figure svg").count() == 2
    cell = page.locator(".matrix a.state.contradicted").first
    assert "1/2" in cell.inner_text() and "contradicted: of 2 tests that it forbids 1 seen" in cell.get_attribute(
        "title"
    )
    cell.click()
    page.wait_for_selector(".grid")
    assert rows(page) == [HOSTILE]


def test_no_name_reorders_what_is_shown(open_page: Pages, tmp_path: Path) -> None:
    """Nor what stands beside it: a bidirectional control of a test or device is shown as its escape."""
    waits, mutex = progress_tests(("a\u202etest", "mutex"))
    suite = write_suite(tmp_path / "suite", [waits, mutex], "progress")
    write_results(suite / "results.jsonl", [progress_result(waits, "H", device="a\u2066 device\x9b")])
    report(suite, "-o", tmp_path / "report.html", "--title", "a\u202e title")
    page = open_page(tmp_path / "report.html")
    assert page.locator("h1").inner_text() == page.title() == "a\\u202e title"
    for place in ("", "#tests?family=progress"):
        page.goto((tmp_path / "report.html").resolve().as_uri() + place)
        page.wait_for_selector("main h1, .grid")
        html = page.content()
        shown, data = html.partition('<script type="application/json"')[::2]
        assert not re.search("[\u202e\u2066\x9b]", shown + data)
        assert "a\\u2066 device\\u009b" in shown
    assert rows(page) == ["a\\u202etest", "mutex"]


def test_filters_search_and_order(open_page: Pages, large: Path) -> None:
    page = open_page(large)
    page.locator("nav").get_by_text("Progress tests").click()
    assert said(page) == "6,610 of 6,610 tests"
    assert len(rows(page)) < 100, "only what can be seen is drawn"
    assert rows(page)[0] == "2x4-0001"
    page.locator("[data-filter=verdict]").select_option("1")
    page.locator("[data-filter=model]").select_option("hsa-weak")
    fewer = said(page)
    assert fewer != "6,610 of 6,610 tests" and "hsa-weak" in page.url
    page.get_by_role("searchbox").fill("mutex")
    assert said(page).endswith("of 6,610 tests") and len(rows(page)) < 50
    page.get_by_role("searchbox").fill("no such test")
    assert said(page) == "0 of 6,610 tests"
    page.get_by_role("searchbox").fill("")
    assert said(page) == fewer
    page.get_by_role("columnheader", name="test").get_by_role("button").click()
    assert page.get_by_role("columnheader", name="test").get_attribute("aria-sort") == "descending"
    assert rows(page) == sorted(rows(page), reverse=True)


def test_the_keyboard_alone(open_page: Pages, large: Path) -> None:
    page = open_page(large)
    page.keyboard.press("/")
    page.wait_for_selector("input:focus")
    page.keyboard.type("prodcons")
    page.keyboard.press("Enter")
    grid = page.get_by_role("grid")
    assert grid.evaluate("each => each === document.activeElement")
    page.keyboard.press("End")
    last = grid.get_attribute("aria-activedescendant")
    assert page.locator(f"#{last}").get_attribute("aria-selected") == "true"
    page.keyboard.press("Home")
    page.keyboard.press("ArrowDown")
    assert grid.get_attribute("aria-activedescendant") == "row-1"
    second = page.locator("#row-1 .name").inner_text()
    page.keyboard.press("Enter")
    page.wait_for_selector(f"h1:has-text('{second}')")
    page.keyboard.press("k")
    page.wait_for_selector(f"h1:not(:text-is('{second}'))")
    page.keyboard.press("Escape")
    page.wait_for_selector(".grid")
    assert page.get_by_role("searchbox").input_value() == "prodcons"
    assert grid.evaluate("each => each === document.activeElement")
    assert grid.get_attribute("aria-activedescendant") == "row-0"


def test_the_keyboard_sorts_and_skips(open_page: Pages, small: Path) -> None:
    page = open_page(small)
    page.goto(f"{small.resolve().as_uri()}#tests?family=progress")
    before = rows(page)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main" and page.locator(".grid").count() == 1
    head = page.get_by_role("columnheader", name="test").get_by_role("button")
    head.focus()
    page.keyboard.press("Enter")
    assert rows(page) == before[::-1]
    assert head.evaluate("each => each === document.activeElement")
    rate = page.get_by_role("columnheader", name="a CPU, round-robin").get_by_role("button")
    rate.focus()
    page.keyboard.press("Enter")
    assert rows(page)[0] == HOSTILE


def test_a_scrolled_table_shows_what_is_there(open_page: Pages, large: Path) -> None:
    page = open_page(large)
    page.goto(f"{large.resolve().as_uri()}#tests")
    page.locator(".grid").evaluate("grid => grid.scrollTo(0, 30 * 3000)")
    page.wait_for_selector("#row-3005")
    assert page.locator("#row-3005 .name").inner_text() == "2x4-3006"


def test_a_progress_test(open_page: Pages, small: Path) -> None:
    page = open_page(small)
    page.locator("nav").get_by_text("Progress tests").click()
    page.locator(".body .line", has_text="alpha").click()
    assert page.locator("h1").inner_text() == HOSTILE
    assert page.locator(".threads h4").all_inner_texts() == ["THREAD 0", "THREAD 1"]
    assert "8 of 20" in page.locator("section", has_text="What was seen").inner_text()
    assert page.locator(".drawing img").count() == 2
    assert page.locator(".drawing img").first.evaluate("img => img.complete && img.naturalWidth > 100")
    assert "Fair execution under" in page.locator("details[open] pre").first.inner_text()
    assert page.locator("summary .letters i").count() == 41


def test_a_memory_test(open_page: Pages, small: Path) -> None:
    page = open_page(small)
    page.locator("nav").get_by_text("Memory tests").click()
    page.locator(".body .line").first.click()
    assert page.locator("h1").inner_text() == "SB"
    asked = page.locator(".histogram tr.asked.against")
    assert asked.count() == 2 and "sc" in asked.first.inner_text()
    assert page.locator(".pill.bad", has_text="sc").count() == 2


def test_failures_can_be_found(open_page: Pages, small: Path) -> None:
    page = open_page(small)
    page.goto(f"{small.resolve().as_uri()}#tests?family=progress&show=failed")
    assert rows(page) == ["mutex"]
    page.locator(".body .line").click()
    assert "the compiler said: <no>" in page.locator("section", has_text="Trials").text_content()


def test_light_dark_and_paper(open_page: Pages, small: Path) -> None:
    light = open_page(small, color_scheme="light")
    dark = open_page(small, color_scheme="dark")
    ground = "getComputedStyle(document.body).backgroundColor"
    assert light.evaluate(ground) != dark.evaluate(ground)
    before = light.evaluate(ground)
    light.get_by_role("button", name="Colours").click()
    light.get_by_role("button", name="Colours").click()
    assert light.evaluate(ground) == dark.evaluate(ground) != before
    dark.emulate_media(media="print")
    assert dark.evaluate(ground) == "rgb(255, 255, 255)"
    assert not dark.locator("header").is_visible()


def test_print_has_every_row(open_page: Pages, large: Path, tmp_path: Path) -> None:
    """The bytes of a printer have them too: PDF needs no event of ours."""
    page = open_page(large)
    page.goto(f"{large.resolve().as_uri()}#tests")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator(".paper tbody tr").count() == 6610
    assert page.locator(".paper tbody tr").last.locator("td").all_inner_texts()[0] == "2x4-6610"
    assert "hsa-weak" in page.locator(".paper p").inner_text()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator(".paper").count() == 0
    page.pdf(path=tmp_path / "all.pdf")
    pages = len(re.findall(rb"/Type\s*/Page\b", (tmp_path / "all.pdf").read_bytes()))
    assert 50 < pages < 400
    assert page.locator(".paper").count() == 0 and len(rows(page)) < 100


def test_hangs_that_are_sure_and_hangs_that_are_rare(open_page: Pages, tmp_path: Path) -> None:
    """Of two tests each hung in one mapping: one always, at its first iteration; the other after ten that ended."""
    always, rarely = progress_tests(("always", "rarely"))
    suite = write_suite(tmp_path / "suite", [always, rarely], "progress")
    ends = [progress_result(test, "T" * 20, mapping="plain") for test in (always, rarely)]
    hangs = [progress_result(always, "H"), progress_result(rarely, "T" * 10 + "H")]
    write_results(suite / "results.jsonl", [*ends, *hangs])
    report(suite, "-o", tmp_path / "report.html")
    page = open_page(tmp_path / "report.html")
    assert page.locator("section", has_text="Which fairness").get_by_text("2 / 1").count() == 1
    page.goto(f"{(tmp_path / 'report.html').resolve().as_uri()}#tests?family=progress&by=device")
    page.wait_for_selector(".grid")
    cells = page.locator(".body .rate")
    assert [text.split()[0] for text in cells.all_inner_texts()] == ["always", "1/11"]
    assert "round-robin, the most of 2 ways" in cells.first.get_attribute("title")


def test_the_views_stay_clear_of_the_button(open_page: Pages, tmp_path: Path) -> None:
    """With nine inputs and so with a long title, at 1400 pixels and at others."""
    waits, mutex = progress_tests()
    suite = write_suite(tmp_path / "suite", [waits, mutex], "progress")
    files = [tmp_path / f"results-of-device-{number}.jsonl" for number in range(9)]
    for number, file in enumerate(files):
        write_results(file, [progress_result(waits, "T", device=f"a device, no. {number}")])
    report(*files, "--suite", suite, "-o", tmp_path / "short.html")
    names = ", ".join(file.stem for file in files)
    report(*files, "--suite", suite, "-o", tmp_path / "long.html", "--title", f"Results of {names}")
    assert open_page(tmp_path / "short.html").locator("h1").inner_text() == (
        "Results of results-of-device-0, results-of-device-1, results-of-device-2 and 6 more"
    )
    page = open_page(tmp_path / "long.html")
    for width in (1400, 1024, 721, 390):
        page.set_viewport_size({"width": width, "height": 800})
        boxes = [part.bounding_box() for part in page.locator(".bar > *").all()]
        for one, other in combinations(boxes, 2):
            beside = one["x"] + one["width"] <= other["x"] or one["y"] + one["height"] <= other["y"]
            above = other["y"] + other["height"] <= one["y"] or other["x"] + other["width"] <= one["x"]
            assert beside or above, (width, one, other)
        views = page.locator("nav").evaluate("nav => [nav.scrollWidth, nav.clientWidth]")
        assert views[0] <= views[1] or width < 720, width


def test_no_step_is_wider_than_a_phone(open_page: Pages, small: Path) -> None:
    page = open_page(small, viewport={"width": 390, "height": 800})
    for place in ("", "#tests?family=progress", "#tests?family=memory"):
        page.goto(small.resolve().as_uri() + place)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390


POCL = "pthread-skylake-avx512-AMD EPYC, OpenCL 3.0 PoCL 3.1+debian Linux, 2 threads"


@pytest.fixture(scope="module")
def named(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A test with a long name, and a device with a long name."""
    folder = tmp_path_factory.mktemp("named")
    waits, mutex = progress_tests(("a-test-whose-name-has-as-many-words-as-a-name-can-have", "mutex"))
    suite = write_suite(folder / "suite", [waits, mutex], "progress")
    ways = ("plain", "round-robin", "chunked")
    results = [progress_result(test, "H", device=POCL, mapping=way) for test in (waits, mutex) for way in ways]
    write_results(suite / "results.jsonl", results)
    report(suite, "-o", folder / "report.html")
    return folder / "report.html"


@pytest.mark.parametrize("width", [1280, 480])
def test_nothing_is_cut(open_page: Pages, named: Path, width: int) -> None:
    page = open_page(named, viewport={"width": width, "height": 800})
    for place in ("", "#tests?family=progress"):
        page.goto(named.resolve().as_uri() + place)
        assert page.evaluate(CUT, "main *") == [], place
    page.locator(".body .line").first.click()
    page.locator(".drawing img").first.wait_for()
    assert page.evaluate(CUT, "main *") == []
    if width == 1280:
        page.goto(named.resolve().as_uri())
        boxes = page.locator(".wide").evaluate_all("all => all.map(each => [each.scrollWidth, each.clientWidth])")
        assert boxes and all(inner <= outer for inner, outer in boxes)


def test_a_picture_is_whole(open_page: Pages, named: Path) -> None:
    page = open_page(named, viewport={"width": 480, "height": 400})
    page.goto(named.resolve().as_uri() + "#tests?family=progress")
    page.locator(".body .line").first.click()
    page.locator(".drawing img").first.wait_for()
    for drawing in page.locator(".drawing").all():
        drawing.locator("img").evaluate("each => each.decode()")
        outer, inner = drawing.bounding_box(), drawing.locator("img").bounding_box()
        assert outer["y"] <= inner["y"] and inner["y"] + inner["height"] <= outer["y"] + outer["height"] + 1
        assert outer["x"] <= inner["x"] and inner["x"] + inner["width"] <= outer["x"] + outer["width"] + 1
        # No text is outside of the picture's own box.
        beyond = drawing.locator("img").evaluate(
            """each => {
              const text = decodeURIComponent(each.src.slice(each.src.indexOf(",") + 1));
              const svg = document.createElement("div");
              svg.innerHTML = text.slice(text.indexOf("<svg"));
              document.body.append(svg);
              const box = svg.firstChild.getBoundingClientRect();
              return [...svg.querySelectorAll("text, rect")].map(part => part.getBoundingClientRect()).filter(part =>
                part.left < box.left - 1 || part.right > box.right + 1 || part.top < box.top - 1 ||
                part.bottom > box.bottom + 1).length;
            }"""
        )
        assert beyond == 0


def test_a_device_has_a_name_of_its_own(open_page: Pages, named: Path) -> None:
    page = open_page(named)
    head = page.locator(".matrix tbody th").first
    assert head.inner_text() == "PoCL 3.1 on AMD EPYC" and head.get_attribute("title") == POCL
    assert POCL in page.locator(".devices").inner_text()


def test_a_key_says_what_squares_and_colours_mean(open_page: Pages, small: Path) -> None:
    page = open_page(small)
    for family, words in (
        ("progress", ["each weak and strong", "may hang", "terminates, but it hung", "iterations that hung", "failed"]),
        ("memory", ["Squares, from the left: ", "forbidden, but it was seen", "instances with the outcome"]),
    ):
        page.goto(f"{small.resolve().as_uri()}#tests?family={family}")
        page.wait_for_selector(".grid")
        key = page.locator("main > .legend")
        assert all(word in key.inner_text() for word in words), family
        looks = "each => [...each.querySelectorAll('.strip i')].map(square => getComputedStyle(square).background)"
        assert len(set(key.evaluate(looks))) == 4
