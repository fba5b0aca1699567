"""The cache of compiled programs: made once, never trusted to be there, bounded."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from backends.shared import cache
from backends.shared.cache import cached
from corpus.cache import CacheRoom


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SYNTH_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


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
    monkeypatch.setattr(cache, "PROGRAMS", CacheRoom("", 20))
    cached(["d"], tmp_path / "d", compiler)  # a run makes room when it first keeps something
    for text in "abc":
        cached([text], tmp_path / f"{text}2", compiler)
    assert [(tmp_path / f"{text}2").read_text() for text in "abc"] == ["program 1", "program 5", "program 3"]


def test_what_is_half_written_is_not_kept_and_makes_room(folder: Path) -> None:
    room = CacheRoom("room", 3)
    file = room.file(["a"])
    assert file is not None and file.is_relative_to(folder / "room")

    def stopped(path: Path) -> None:
        path.write_text("half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        room.keep(file, stopped)
    assert list(file.parent.iterdir()) == []
    file.with_name(".left.by-a-kill.tmp").write_text("half")
    CacheRoom("room", 2).keep(file, lambda path: path.write_text("whole"))
    assert list(file.parent.iterdir()) == [file] and file.read_text() == "whole"


def test_a_folder_is_the_users_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SYNTH_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    file = CacheRoom("room", 1).file(["a"])
    assert file is not None and file.is_relative_to(tmp_path / "xdg" / "synth" / "room")
    assert (tmp_path / "xdg" / "synth").stat().st_mode & 0o777 == 0o700
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    file = CacheRoom("room", 1).file(["a"])
    assert file is not None and file.is_relative_to(tmp_path / "home" / ".cache" / "synth" / "room")
