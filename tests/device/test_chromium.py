"""The browser of the tests: it opens files, has WebGPU there, and tells of errors."""

from __future__ import annotations

from pathlib import Path

import pytest
from chromium import Pages

pytestmark = pytest.mark.device


def page_of(folder: Path, script: str) -> Path:
    file = folder / "page.html"
    file.write_text(f"<!doctype html><meta charset=utf-8><title>x</title><script>{script}</script>", encoding="utf-8")
    return file


def test_a_page_from_a_file_has_webgpu(open_page: Pages, tmp_path: Path) -> None:
    page = open_page(page_of(tmp_path, ""), color_scheme="dark")
    assert page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    assert page.evaluate("(async () => (await navigator.gpu.requestAdapter()).info.architecture)()") == "swiftshader"


def test_errors_and_requests_are_told(open_page: Pages, tmp_path: Path) -> None:
    script = "console.error('one'); fetch('http://x.invalid/two').catch(() => (window.refused = true)); three()"
    page = open_page(page_of(tmp_path, script))
    page.wait_for_function("window.refused")
    told = " ".join(open_page.errors)
    assert "one" in told and "asks for http://x.invalid/two" in told and "three is not defined" in told
    open_page.errors.clear()
