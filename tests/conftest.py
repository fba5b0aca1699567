"""Shared by all tests: golden files with a promote mode, and the rule for compilers that a machine may lack."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from backends.registry import BACKENDS

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
def need() -> Callable[[str], None]:
    """``need(backend)`` skips a test where the compilers of a back end, or for cuda the disassembler, are not there; on
    CI it fails instead."""

    def check(backend: str) -> None:
        lacking = BACKENDS[backend].compiler.missing()
        if lacking:
            message = f"{backend} needs {' and '.join(lacking)}"
            if os.environ.get("CI"):
                pytest.fail(message)
            pytest.skip(message)

    return check
