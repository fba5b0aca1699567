"""The cache of compiled programs: made once, never trusted to be there, bounded."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from backends.shared import cache
from backends.shared.cache import cached


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("SYNTH_CACHE_DIR", str(tmp_path / "cache"))
    cache._folder.cache_clear()
    yield tmp_path / "cache"
    cache._folder.cache_clear()


class Compiler:
    def __init__(self, works: bool = True) -> None:
        self.made, self.works = 0, works

    def __call__(self, path: Path) -> bool:
        self.made += 1
        path.write_text(f"program {self.made}")
        return self.works


def test_the_same_is_made_once(tmp_path: Path) -> None:
    compiler = Compiler()
    for number, text in enumerate(["a", "a", "b", "a"]):
        cached(["g++ 1", text], tmp_path / f"{number}", compiler)
    assert [(tmp_path / f"{number}").read_text() for number in range(4)] == [
        "program 1",
        "program 1",
        "program 2",
        "program 1",
    ]
    cached(["g++ 2", "a"], tmp_path / "newer", compiler)
    assert compiler.made == 3


def test_what_failed_is_not_kept(tmp_path: Path) -> None:
    compiler = Compiler(works=False)
    for number in range(2):
        cached(["a"], tmp_path / f"{number}", compiler)
    assert compiler.made == 2


def test_parts_do_not_run_into_each_other(tmp_path: Path) -> None:
    compiler = Compiler()
    cached(["ab", "c"], tmp_path / "1", compiler)
    cached(["a", "bc"], tmp_path / "2", compiler)
    assert compiler.made == 2


def test_it_may_go_at_any_time(tmp_path: Path, folder: Path) -> None:
    compiler = Compiler()
    cached(["a"], tmp_path / "1", compiler)
    for kept in folder.glob("??/*"):
        kept.unlink()
    cached(["a"], tmp_path / "2", compiler)
    assert compiler.made == 2 and (tmp_path / "1").read_text() == "program 1"


@pytest.mark.parametrize("said", ["", "/dev/null/nowhere"])
def test_without_a_folder_all_is_made_anew(said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYNTH_CACHE_DIR", said)
    compiler = Compiler()
    for number in range(2):
        cached(["a"], tmp_path / f"{number}", compiler)
    assert compiler.made == 2


def test_what_was_used_longest_ago_makes_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    compiler = Compiler()
    for number, text in enumerate("abc"):
        cached([text], tmp_path / text, compiler)
        for kept in folder.glob("??/*"):
            if kept.read_text() == f"program {number + 1}":
                os.utime(kept, (number, number))
    cached(["a"], tmp_path / "again", compiler)  # used just now
    monkeypatch.setattr(cache, "MOST", 20)
    cache._folder.cache_clear()
    for text in "abc":
        cached([text], tmp_path / f"{text}2", compiler)
    assert [(tmp_path / f"{text}2").read_text() for text in "abc"] == ["program 1", "program 4", "program 3"]
