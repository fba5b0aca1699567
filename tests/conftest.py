"""Shared by all tests: golden files with a promote mode, and the rule for compilers that a machine may lack."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from backends.opencl.platforms import choose
from backends.registry import BACKENDS
from corpus.errors import InputError

GOLDEN = Path(__file__).parent / "golden"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--promote", action="store_true", help="rewrite golden files with what the program says now")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """``golden(name, text)`` holds that ``tests/golden/<name>`` is ``text``; ``pytest --promote`` makes it so."""

    def compare(name: str, text: str) -> None:
        path = GOLDEN / name
        if request.config.getoption("--promote"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        assert path.is_file(), f"no golden file {name}: look at the text and run pytest --promote"
        assert text == path.read_text(encoding="utf-8"), f"{name} has changed: if it should, run pytest --promote"

    return compare


@pytest.fixture
def need() -> Callable[..., None]:
    """``need(backend)`` skips a test, and says why, where the compilers or devices of a back end are not there or fail
    their probe; ``need("opencl", platform)`` where that platform has no device that works. On CI it fails instead."""

    def check(backend: str, platform: str | None = None) -> None:
        lacking = _lacking(backend, platform)
        if lacking:
            message = f"{backend} needs {' and '.join(lacking)}"
            if os.environ.get("CI"):
                pytest.fail(message)
            pytest.skip(message)

    return check


@cache
def _lacking(backend: str, platform: str | None) -> list[str]:
    compiler = BACKENDS[backend].compiler
    if platform is not None:
        try:
            choose(platform)
        except InputError as error:
            return [f"a device of that platform ({error})"]
    if backend == "opencl" or compiler.missing():  # one device that works is enough
        return compiler.missing()
    return [f"{each.name}: {each.problem}" for each in compiler.probe() if not each.usable]
