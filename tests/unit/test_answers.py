"""The record of answers (``benchmarks/answers.py``): the same bytes each time, and a comparison that sees a change."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
BENCHMARKS = ROOT / "benchmarks"
KERNELS = ROOT / "examples" / "kernels"
TWICE = """
import sys
sys.path.insert(0, sys.argv[1])
import answers
for folder in ("one", "two"):
    answers.main(["record", folder, "--only", "check/*/tests", "--jobs", "2"])
"""
FILES = ("answers.jsonl", "residual.jsonl", "record.json")


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two records of a few kernels."""
    folder = tmp_path_factory.mktemp("answers")
    inputs = folder / "kept" / "inputs" / "tests"
    inputs.mkdir(parents=True)
    for file in ("warps/active-all.ptx", "warps/lane-ended.ptx", "spirv/mp-relaxed.spvasm"):
        shutil.copy(KERNELS / file, inputs)
    head = ".version 9.0\n.target sm_90\n.address_size 64\n"
    (inputs / "wrong.ptx").write_text(f"{head}.visible .entry k() {{\n.reg .b32 %r1;\nnothing.u32 %r1;\nret;\n}}\n")
    subprocess.run([sys.executable, "-c", TWICE, BENCHMARKS], cwd=folder, check=True, capture_output=True)
    return folder


@pytest.fixture(scope="module")
def answers() -> ModuleType:
    """The script as a module; it puts the path back, in which its folder is not."""
    spec = importlib.util.spec_from_file_location("answers_of_tests", BENCHMARKS / "answers.py")
    assert spec is not None and spec.loader is not None
    module = sys.modules["answers_of_tests"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def rows(folder: Path) -> dict[str, dict[str, object]]:
    lines = map(json.loads, (folder / "answers.jsonl").read_text(encoding="utf-8").splitlines())
    return {line["item"]: line for line in lines}


def test_a_record_has_the_same_bytes_each_time(records: Path) -> None:
    for file in FILES:
        assert (records / "one" / file).read_bytes() == (records / "two" / file).read_bytes()
    found = rows(records / "one")
    assert sorted(found) == [
        "check/ptx/tests/active-all.ptx",
        "check/ptx/tests/lane-ended.ptx",
        "check/ptx/tests/wrong.ptx",
        "check/spirv/tests/mp-relaxed.spvasm",
    ]
    assert [line["exit"] for line in found.values()] == [1, 0, 2, 1]
    assert "wrong.ptx:6:1: nothing.u32" in json.dumps(found["check/ptx/tests/wrong.ptx"])
    texts = (records / "one" / "residual.jsonl").read_text(encoding="utf-8")
    assert all(line["residual"] for name, line in found.items() if "wrong" not in name)
    assert "Store(Loc(out), Reg(" in texts and "assumed: (memory of out begins as zeros)" in texts


def test_records_that_are_the_same_are_said_to_be(
    records: Path, answers: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    assert answers.compare(records / "one", records / "two", [], 40) == 0
    assert "4 items compared, 0 differ" in capsys.readouterr().out


CHANGES = [
    ('"expectation": "FOUND"', '"expectation": "SAFE"', 'answers.expectation: "FOUND" -> "SAFE"', "verdict"),
    ('"kind": "expectation"', '"kind": "race"', 'kind: "expectation" -> "race"', "findings"),
    ("memory of out begins", "memory begins", 'assumed.0: "memory of out begins as zeros"', "assumed"),
    ('"exit": 1', '"exit": 0', "exit: 1 -> 0", "exit"),
]


@pytest.mark.parametrize(("old", "new", "told", "kind"), CHANGES, ids=[kind for *_, kind in CHANGES])
def test_a_change_is_told(
    old: str,
    new: str,
    told: str,
    kind: str,
    records: Path,
    answers: ModuleType,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    changed = tmp_path / "changed"
    shutil.copytree(records / "two", changed)
    first, *others = (changed / "answers.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    assert old in first
    (changed / "answers.jsonl").write_text(first.replace(old, new, 1) + "".join(others), encoding="utf-8")
    assert answers.compare(records / "one", changed, [], 40) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "check/ptx/tests/active-all.ptx"
    assert told in lines[1]
    assert f"4 items compared, 1 differ: 1 {kind}" in lines


def test_another_residual_program_and_a_slower_item_are_told(
    records: Path, answers: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    changed = tmp_path / "changed"
    shutil.copytree(records / "two", changed)
    name, line = next(iter(rows(changed).items()))
    digest = line["residual"][0]  # type: ignore[index]
    for file in ("answers.jsonl", "residual.jsonl"):
        text = (changed / file).read_text(encoding="utf-8")
        text = text.replace(digest, "0" * 16).replace("Loc(out), ", "Loc(out), 1 + ")
        (changed / file).write_text(text, encoding="utf-8")
    (changed / "costs.csv").write_text(f"item,seconds,megabytes\n{name},9.00,80\n")
    assert answers.compare(records / "one", changed, [], 40) == 1
    out = capsys.readouterr().out
    assert "1 residual" in out and "Loc(out), 1 + " in out
    assert f"{name}  SLOWER" in out
