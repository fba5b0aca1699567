"""Small kernels in which one word, option or rule of the language decides between SAFE and a finding.

Answers were worked out by the languages' specifications before the kernels were asked about: ``why`` says by what.
``answer`` has the kinds that are found; ``SAFE``; ``UNKNOWN`` and the kinds without an answer; or, behind two dots, a
part of why the kernel is not understood. ``before`` is what was said of those that were judged wrong when the table was
made. A text of GLSL is declarations, a bar and a body, as one of WGSL is; ``SIZE 4`` is a work-group of four threads.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from commands import synth

with Path(__file__).with_name("words_of_kernels.csv").open(encoding="utf-8", newline="") as _file:
    TABLE = list(csv.DictReader(_file))

SUFFIXES = {"OpenCL C": ".cl", "GLSL": ".comp", "WGSL": ".wgsl"}
OUT = "@group(0) @binding(0) var<storage, read_write> out: array<u32>;"
GIVEN = "@builtin(local_invocation_index) me: u32, @builtin(workgroup_id) wg: vec3<u32>"

Rows = Iterable[dict[str, str]]


def _source(row: dict[str, str]) -> str:
    """Return the text of a row as a file."""
    text = row["text"]
    if row["language"] == "OpenCL C" or "@compute" in text:
        return text
    declared, body = text.split("|", 1)
    said = re.search(r"SIZE (\d+)", declared)
    size = said[1] if said else "2"
    declared = re.sub(r"SIZE \d+", "", declared)
    if row["language"] == "GLSL":
        words = "\n".join(re.findall(r"^#.*$", declared, re.MULTILINE))
        declared = re.sub(r"^#.*$", "", declared, flags=re.MULTILINE)
        head = f"#version 450\n{words}\nlayout(local_size_x = {size}) in;\n{declared}\n"
        return f"{head}void main() {{\n  uint me = gl_GlobalInvocationID.x;\n  {body}\n}}"
    return f"{OUT}\n{declared}\n@compute @workgroup_size({size}) fn main({GIVEN}) {{\n  {body}\n}}"


def _said(one: dict[str, Any]) -> str:
    """Return what is said of a kernel in the words of the table."""
    found = sorted(name for name, answer in one["answers"].items() if answer == "FOUND")
    unknown = sorted(name for name, answer in one["answers"].items() if answer == "UNKNOWN")
    return one.get("problem") or " ".join(found) or " ".join(["UNKNOWN", *unknown] if unknown else ["SAFE"])


def _judge(folder: Path, rows: Rows) -> None:
    wanted = {}
    for row in rows:
        file = folder / f"{row['kernel']}{SUFFIXES[row['language']]}"
        file.write_text(f"{_source(row)}\n// synth check: {row['launch']}\n", encoding="utf-8")
        wanted[file.name] = row
    result = synth("check", folder, "--json", "--jobs", 1)
    said = {Path(one["file"]).name: _said(one) for one in json.loads(result.stdout)}
    wrong = {
        name: (said.get(name), row["answer"], row["why"])
        for name, row in wanted.items()
        if not (row["answer"].startswith("..") and row["answer"][2:] in said.get(name, ""))
        and said.get(name) != row["answer"]
    }
    assert wrong == {}


def _rows(language: str, before: bool) -> Rows:
    return [row for row in TABLE if row["language"] == language and (row["before"] != "") is before]


@pytest.mark.device
@pytest.mark.parametrize(("language", "backend"), [("OpenCL C", "opencl"), ("GLSL", "glsl")])
def test_what_was_judged_wrong(to_spirv: Callable[[str], None], tmp_path: Path, language: str, backend: str) -> None:
    to_spirv(backend)
    _judge(tmp_path, _rows(language, before=True))


@pytest.mark.slow
@pytest.mark.device
@pytest.mark.parametrize(("language", "backend"), [("OpenCL C", "opencl"), ("GLSL", "glsl"), ("WGSL", "wgsl")])
def test_all_others(
    to_spirv: Callable[[str], None], need: Callable[..., None], tmp_path: Path, language: str, backend: str
) -> None:
    need("wgsl") if backend == "wgsl" else to_spirv(backend)
    _judge(
        tmp_path, _rows(language, before=False) if backend != "wgsl" else [r for r in TABLE if r["language"] == "WGSL"]
    )


def test_the_table_is_of_three_languages() -> None:
    counts = {language: sum(row["language"] == language for row in TABLE) for language in SUFFIXES}
    assert min(counts.values()) >= 20 and sum(counts.values()) >= 200
    assert all(row["why"] and row["launch"].startswith("--grid") for row in TABLE)
