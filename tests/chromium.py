"""Pages in a real browser: Debian's ``chromium``, driven by Playwright, with WebGPU on SwiftShader (a CPU device).

``open_page(file)`` gives the page of a file, opened as by a double click; keywords are those of a browser context
(``color_scheme``, ``viewport``, ..). When the test is over, no page that it opened may have logged an error, thrown
one, or asked the network for anything. ``open_page.errors`` has what was logged so far, for a test to take out what it
means to provoke.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

FLAGS = ["--no-sandbox", "--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader"]
LOCAL = ("file:", "data:", "blob:")


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium, one for all tests. Where there is none, tests are skipped; on CI they fail."""
    executable = shutil.which("chromium")
    if executable is None:
        message = "Debian's chromium is not installed"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)

    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=executable, args=FLAGS)
        yield chromium
        chromium.close()


class Pages:
    """Pages of one test, and the errors that they have told of."""

    def __init__(self, browser: Any) -> None:
        self.errors: list[str] = []
        self._browser = browser
        self._contexts: list[Any] = []

    def __call__(self, file: Path, **options: Any) -> Any:
        """The page of a file, in a context of its own: nothing is stored there yet."""
        context = self._browser.new_context(**options)
        self._contexts.append(context)
        page = context.new_page()
        page.on("console", lambda said: said.type == "error" and self.errors.append(said.text))
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("request", lambda asked: asked.url.startswith(LOCAL) or self.errors.append(f"asks for {asked.url}"))
        page.goto(file.resolve().as_uri())
        return page

    def close(self) -> None:
        """Close all of them."""
        for context in self._contexts:
            context.close()


@pytest.fixture
def open_page(browser: Any) -> Iterator[Pages]:
    """The way to open pages in ``browser``."""
    pages = Pages(browser)
    yield pages
    pages.close()
    assert not pages.errors
