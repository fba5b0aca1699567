"""Small suites from models, as they are written; ``pytest --promote`` accepts a change."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from commands import synth

from corpus.journal import read_corpus
from synth.memory.counts import axioms


def made(folder: Path, arguments: str) -> Path:
    result = synth("memory", *arguments.split(), "-o", folder)
    assert result.exit_code == 0, result.output
    return folder


def listing(folder: Path) -> str:
    """A test a line, with the axioms that it pins."""
    return "".join(f"{test.name}  {' '.join(axioms(test))}\n" for test in read_corpus(folder).tests)


@pytest.mark.parametrize("criterion", ["outcome", "execution"])
def test_tso(tmp_path: Path, criterion: str, golden: Callable[[str, str], None]) -> None:
    golden(
        f"suites/tso.{criterion}.txt",
        listing(made(tmp_path / "d", f"--from tso --events 2..4 --criterion {criterion}")),
    )


def test_tests_of_tso(tmp_path: Path, golden: Callable[[str, str], None]) -> None:
    folder = made(tmp_path / "d", "--from tso --events 2..3")
    golden("suites/tso.tests.jsonl", (folder / "tests.jsonl").read_text(encoding="utf-8"))


@pytest.mark.parametrize("model", ["vulkan", "webgpu"])
def test_vulkan_and_webgpu(tmp_path: Path, model: str, golden: Callable[[str, str], None]) -> None:
    golden(f"suites/{model}.txt", listing(made(tmp_path / "d", f"--from {model} --events 2..3")))


def test_ptx_with_mutants(tmp_path: Path, golden: Callable[[str, str], None]) -> None:
    folder = made(tmp_path / "d", "--from ptx-6.0 --events 2..3 --mutants")
    golden("suites/ptx-6.0.txt", listing(folder))
    golden("suites/ptx-6.0.mutants.csv", (folder / "mutants" / "links.csv").read_text(encoding="utf-8"))
