"""Pages in a real browser: Debian's ``chromium``, driven by Playwright, with WebGPU on SwiftShader (a CPU device).

``open_page(file)`` gives the page of a file, opened as by a double click; keywords are those of a browser context
(``color_scheme``, ``viewport``, ..), and ``script`` is run before those of the page. When the test is over, no page
that it opened may have logged an error, thrown one, or asked the network for anything. ``open_page.errors`` has what
was logged so far, for a test to take out what it means to provoke.

A shader that hangs takes the process of all devices with it. A headless browser lets it, for ever. With a window,
Chromium's watchdog ends that process, after a minute on a CPU, and after the second time it refuses devices for two
minutes. ``open_watched_page`` opens pages in a browser that has a window, though on no screen, whose watchdog waits for
a second, and that forgives.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from absent import absent

FLAGS = ["--no-sandbox", "--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader"]
WATCHED = [
    "--ozone-platform=headless",
    "--gpu-watchdog-timeout-seconds=1",
    "--disable-domain-blocking-for-3d-apis",
    "--disable-gpu-process-crash-limit",
]
LOCAL = ("file:", "data:", "blob:")
CUT = """(where) => {
  const wide = document.documentElement.clientWidth, found = [];
  const scrolls = (each) => each && each !== document.body && each !== document.documentElement &&
    (["auto", "scroll"].includes(getComputedStyle(each).overflowX) || scrolls(each.parentElement));
  if (document.documentElement.scrollWidth > wide) found.push("the page");
  for (const each of document.querySelectorAll(where ?? "header *, main *, footer *")) {
    const style = getComputedStyle(each), box = each.getBoundingClientRect();
    if (style.visibility === "hidden" || box.width < 2 || box.height < 2 || each.closest("svg")) continue;
    const cut = ["hidden", "clip"].includes(style.overflowX) && each.scrollWidth > each.clientWidth + 1;
    const beyond = box.right > wide + 1 && box.left < wide && !scrolls(each);
    if (cut || beyond) found.push(`${each.tagName}: ${each.textContent.trim().slice(0, 60)}`);
  }
  return found;
}"""
"""What is cut in a page: what hides a part of its text, or is beyond the window and cannot be scrolled."""


@pytest.fixture(scope="session")
def playwright() -> Iterator[Any]:
    """Playwright, where there is a chromium. Where there is none, tests are skipped; on CI they fail."""
    if shutil.which("chromium") is None:
        absent("Debian's chromium is not installed")

    from playwright.sync_api import sync_playwright

    with sync_playwright() as started:
        yield started


def _launched(playwright: Any, **options: Any) -> Iterator[Any]:
    chromium = playwright.chromium.launch(executable_path=shutil.which("chromium"), **options)
    yield chromium
    chromium.close()


@pytest.fixture(scope="session")
def browser(playwright: Any) -> Iterator[Any]:
    """Chromium without a window, one for all tests."""
    yield from _launched(playwright, args=FLAGS)


@pytest.fixture(scope="session")
def watched_browser(playwright: Any) -> Iterator[Any]:
    """Chromium with a watchdog."""
    yield from _launched(playwright, args=FLAGS + WATCHED, headless=False)


class Pages:
    """Pages of one test, and the errors that they have told of."""

    def __init__(self, browser: Any) -> None:
        self.errors: list[str] = []
        self._browser = browser
        self._contexts: list[Any] = []

    def __call__(self, file: Path, script: str = "", **options: Any) -> Any:
        """The page of a file, in a context of its own: nothing is stored there yet."""
        context = self._browser.new_context(**options)
        self._contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(300_000)  # a busy machine is slow to give a GPU process
        if script:
            page.add_init_script(script)
        page.on("console", lambda said: said.type == "error" and self.errors.append(said.text))
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("request", lambda asked: asked.url.startswith(LOCAL) or self.errors.append(f"asks for {asked.url}"))
        page.goto(file.resolve().as_uri())
        return page

    def close(self) -> None:
        """Close all of them."""
        for context in self._contexts:
            context.close()


def _pages(browser: Any) -> Iterator[Pages]:
    pages = Pages(browser)
    yield pages
    pages.close()
    assert not pages.errors, pages.errors


@pytest.fixture
def open_page(browser: Any) -> Iterator[Pages]:
    """The way to open pages in ``browser``."""
    yield from _pages(browser)


@pytest.fixture
def open_watched_page(watched_browser: Any) -> Iterator[Pages]:
    """The way to open pages in ``watched_browser``."""
    yield from _pages(watched_browser)
