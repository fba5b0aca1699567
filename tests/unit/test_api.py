"""docs/api.md is right, and ``synth.api`` refuses what it cannot do in one line."""

from __future__ import annotations

import doctest
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from commands import synth

from synth import api

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "api.md"
MEMORY = ROOT / "examples" / "memory"
LEVELS = ROOT / "examples" / "levels"
MUTEX = ROOT / "examples" / "progress" / "mutex.axb"


@pytest.mark.device
def test_the_page_is_right(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, need: Callable[..., None]) -> None:
    need("cpp", runs=True)
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ROOT / "examples", "examples")
    found = doctest.testfile(str(PAGE), module_relative=False)
    assert found.failed == 0 and found.attempted > 20


def test_the_page_names_every_function() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert [name for name in api.__all__ if f"`{name}" not in page and f"`api.{name}" not in page] == []


def test_a_test_is_read_as_what_it_is() -> None:
    for path in (MUTEX, MEMORY / "mp-weak.litmus"):
        test = api.read(path)
        assert type(api.parse(api.text(test))) is type(test)
        assert api.text(api.parse(api.text(test))) == api.text(test)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: api.read("nowhere.axb"), "nowhere.axb: cannot read"),
        (lambda: api.parse("THREAD 0\nhello"), "1|2"),
        (lambda: api.label(api.read(MUTEX), "hsb"), "hsb"),
        (lambda: api.explain(api.read(MUTEX), "hsa"), "expected one model, and hsa is hsa-weak and hsa-strong"),
        (lambda: api.explain(api.read(MEMORY / "mp-weak.litmus"), "thesis-weak"), "transition system"),
        (lambda: api.compile(api.read(MUTEX), "cudo"), "unknown back end 'cudo'; did you mean cuda"),
        (lambda: api.compile(api.read(MUTEX), "cuda", mapping="odd"), "unknown mapping 'odd'"),
        (lambda: api.run(api.read(MUTEX), "web"), "web tests are run elsewhere"),
        (lambda: api.synthesise(api.MemorySuite("sc", (2, 2), axioms=("no",)), "never"), "has no axiom 'no'"),
        (lambda: api.synthesise(api.ProgressSuite(2, 2), MEMORY), "not empty"),
        (lambda: api.synthesise(api.ProgressSuite(3, 2), "never"), "3 threads need 3 or more instructions, found 2"),
    ],
)
def test_what_is_wrong_is_one_line(call: Callable[[], object], message: str) -> None:
    with pytest.raises(api.InputError, match=message) as caught:
        call()
    assert len(str(caught.value).splitlines()) == 1


def test_a_file_is_read_by_what_is_in_it(tmp_path: Path) -> None:
    for path in (MUTEX, MEMORY / "mp-weak.litmus"):
        other = tmp_path / f"{path.stem}.txt"
        other.write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
        assert api.read(other) == api.read(path)


@pytest.mark.parametrize("backend", ["cuda", "opencl"])
@pytest.mark.parametrize(
    "path", [MUTEX, LEVELS / "flag-within.axb", MEMORY / "c-sb-rel-acq.litmus"], ids=lambda path: path.stem
)
def test_programs_are_those_of_the_command(tmp_path: Path, path: Path, backend: str) -> None:
    assert synth("compile", path, "--backend", backend, "-o", tmp_path).exit_code == 0
    texts = api.compile(api.read(path), backend, path.stem)
    assert {name: (tmp_path / name).read_text(encoding="utf-8") for name in texts} == texts


def test_a_model_that_was_changed_is_read_anew(tmp_path: Path) -> None:
    mine = tmp_path / "mine.cat"
    said = []
    for text in ("acyclic po | rf | co | fr as sc", "acyclic po-loc | rf | co | fr as coherence"):
        mine.write_text(text, encoding="utf-8")
        said += [judged.answer for judged in api.label(api.read(MEMORY / "mp-weak.litmus"), str(mine)).values()]
    assert [str(answer) for answer in said] == ["FORBIDDEN", "ALLOWED"]


def test_instances_of_a_program() -> None:
    mp = api.read(MEMORY / "mp-weak.litmus")
    one, other = (api.compile(mp, "opencl", instances=instances)["test.cl"] for instances in (1024, 2048))
    assert one != other
