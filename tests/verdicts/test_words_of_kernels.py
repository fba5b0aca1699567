"""Small kernels in which one word, option or rule of the language decides between SAFE and a finding.

Answers were worked out by the languages' specifications before the kernels were asked about: ``why`` says by what.
``answer`` has the kinds that are found; ``SAFE``; ``UNKNOWN`` and the kinds without an answer; or, behind two dots, a
part of why the kernel is not understood. ``before`` is what was said of those that were judged wrong when the table was
made. A text of GLSL is declarations, a bar and a body, as one of WGSL is; ``SIZE 2x2`` is a work-group of four threads.
One of SPIR-V is parts of a module.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from commands import synth

with Path(__file__).with_name("words_of_kernels.csv").open(encoding="utf-8", newline="") as _file:
    TABLE = list(csv.DictReader(_file))

SUFFIXES = {"OpenCL C": ".cl", "GLSL": ".comp", "WGSL": ".wgsl", "SPIR-V": ".spvasm", "HIP": ".hip"}
CUDA = {"CUDA C++": (), "CUDA C++ as written": ("--as-written",)}
MODULE = """
OpCapability Shader
OpCapability VulkanMemoryModel
{caps}
OpMemoryModel Logical Vulkan
OpEntryPoint GLCompute %main "main" %lid {iface}
OpExecutionMode %main LocalSize 2 1 1
{modes}
OpName %buf "buf"
OpDecorate %lid BuiltIn LocalInvocationIndex
OpDecorate %arr ArrayStride 4
OpDecorate %S Block
OpMemberDecorate %S 0 Offset 0
OpDecorate %buf DescriptorSet 0
OpDecorate %buf Binding 0
{decor}
%void = OpTypeVoid
%fn = OpTypeFunction %void
%uint = OpTypeInt 32 0
%float = OpTypeFloat 32
%bool = OpTypeBool
%v2 = OpTypeVector %uint 2
{numbers}
%arr = OpTypeRuntimeArray %uint
%S = OpTypeStruct %arr
%pS = OpTypePointer StorageBuffer %S
%pu = OpTypePointer StorageBuffer %uint
%pin = OpTypePointer Input %uint
%pw = OpTypePointer Workgroup %uint
%pf = OpTypePointer Function %uint
%buf = OpVariable %pS StorageBuffer
%lid = OpVariable %pin Input
{glob}
%main = OpFunction %void None %fn
%entry = OpLabel
{vars}
%id = OpLoad %uint %lid
%e0 = OpAccessChain %pu %buf %u0 %u0
%e1 = OpAccessChain %pu %buf %u0 %u1
%mine = OpAccessChain %pu %buf %u0 %id
{body}
OpReturn
OpFunctionEnd
{more}
"""
"""The module that a row of SPIR-V fills in, by parts whose names its lines begin with."""
OUT = "@group(0) @binding(0) var<storage, read_write> out: array<u32>;"
GIVEN = "@builtin(local_invocation_index) me: u32, @builtin(workgroup_id) wg: vec3<u32>"

Rows = Iterable[dict[str, str]]


def _source(row: dict[str, str]) -> str:
    """Return the text of a row as a file."""
    text = row["text"]
    if row["language"] in ("OpenCL C", "HIP") or "@compute" in text:
        return text
    if row["language"] == "SPIR-V":
        parts = dict.fromkeys(re.findall(r"{(\w+)}", MODULE), "") | {"iface": "%buf"}
        for line in text.splitlines():
            part, _, word = line.partition(": ")
            parts[part] = word if part == "iface" else f"{parts[part]}{word}\n"
        parts["numbers"] = "\n".join(f"%u{n} = OpConstant %uint {n}" for n in (0, 1, 2, 3, 4, 5, 72, 264))
        parts["iface"] += " %w" if "%w = OpVariable" in parts["glob"] and "%w" not in parts["iface"] else ""
        return MODULE.format(**parts)
    declared, body = text.split("|", 1)
    said = re.search(r"SIZE ([\dx]+)", declared)
    sizes = said[1].split("x") if said else ["2"]
    declared = re.sub(r"SIZE [\dx]+", "", declared)
    if row["language"] == "GLSL":
        words = "\n".join(re.findall(r"^#.*$", declared, re.MULTILINE))
        declared = re.sub(r"^#.*$", "", declared, flags=re.MULTILINE)
        size = ", ".join(f"local_size_{axis} = {number}" for axis, number in zip("xyz", sizes, strict=False))
        head = f"#version 450\n{words}\nlayout({size}) in;\n{declared}\n"
        return f"{head}void main() {{\n  uint me = gl_GlobalInvocationID.x;\n  {body}\n}}"
    return f"{OUT}\n{declared}\n@compute @workgroup_size({', '.join(sizes)}) fn main({GIVEN}) {{\n  {body}\n}}"


def _as_one(rows: Rows) -> str:
    """Return kernels of CUDA C++ as one file, for which nvcc runs once: each has a namespace, and the name of its row.

    A row's kernel is ``extern "C"``, and its ``#include`` lines come first.
    """
    includes, texts = dict[str, None](), []
    for row in rows:
        text, name = row["text"], row["kernel"]
        includes |= dict.fromkeys(re.findall(r"^#include.*$", text, re.MULTILINE))
        text = re.sub(r"^#include.*$", "", text, flags=re.MULTILINE).replace(" k(", f" {name}(", 1)
        texts += [f"namespace of_{name} {{", text, "}", f"// synth check: --kernel {name} {row['launch']}"]
    return "\n".join((*includes, *texts, ""))


def _said(one: dict[str, Any]) -> str:
    """Return what is said of a kernel in the words of the table."""
    found = sorted(name for name, answer in one["answers"].items() if answer == "FOUND")
    found += ["hang"] * (one["hang"].get("fair") == "MAY_HANG" and Path(one["file"]).suffix == ".cu")
    unknown = sorted(name for name, answer in one["answers"].items() if answer == "UNKNOWN")
    return one.get("problem") or " ".join(found) or " ".join(["UNKNOWN", *unknown] if unknown else ["SAFE"])


def _judge(folder: Path, rows: Rows) -> None:
    """Compare what is said of rows, a file each, with the table."""
    wanted = {}
    for row in rows:
        file = folder / f"{row['kernel']}{SUFFIXES[row['language']]}"
        comment = ";" if row["language"] == "SPIR-V" else "//"
        file.write_text(f"{_source(row)}\n{comment} synth check: {row['launch']}\n", encoding="utf-8")
        wanted[file.name] = row
    _compare(wanted, {Path(one["file"]).name: _said(one) for one in _checked(folder)})


def _judge_as_one(folder: Path, rows: Rows, *options: str) -> None:
    """Compare what is said of rows of CUDA C++, all in one file, with the table."""
    (folder / "kernels.cu").write_text(_as_one(rows), encoding="utf-8")
    _compare({row["kernel"]: row for row in rows}, {one["kernel"]: _said(one) for one in _checked(folder, *options)})


def _checked(folder: Path, *options: str) -> Any:
    return json.loads(synth("check", folder, "--json", "--jobs", 1, *options).stdout)


def _compare(wanted: Mapping[str, Mapping[str, str]], said: Mapping[str, str]) -> None:
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
@pytest.mark.parametrize(("language", "backend"), [("OpenCL C", "opencl"), ("GLSL", "glsl"), ("HIP", "hip")])
def test_what_was_judged_wrong(to_spirv: Callable[[str], None], tmp_path: Path, language: str, backend: str) -> None:
    to_spirv(backend)
    _judge(tmp_path, _rows(language, before=True))


@pytest.mark.slow
@pytest.mark.device
@pytest.mark.parametrize(
    ("language", "backend"),
    [("OpenCL C", "opencl"), ("GLSL", "glsl"), ("WGSL", "wgsl"), ("HIP", "hip")],
)
def test_all_others(
    to_spirv: Callable[[str], None], need: Callable[..., None], tmp_path: Path, language: str, backend: str
) -> None:
    need("wgsl") if backend == "wgsl" else to_spirv(backend)
    _judge(
        tmp_path, _rows(language, before=False) if backend != "wgsl" else [r for r in TABLE if r["language"] == "WGSL"]
    )


@pytest.mark.device
def test_what_was_judged_wrong_in_cuda(need: Callable[..., None], tmp_path: Path) -> None:
    need("cuda")
    _judge_as_one(tmp_path, _rows("CUDA C++", before=True))


@pytest.mark.slow
@pytest.mark.device
@pytest.mark.parametrize("language", CUDA)
def test_all_others_in_cuda(need: Callable[..., None], tmp_path: Path, language: str) -> None:
    need("cuda")
    _judge_as_one(tmp_path, _rows(language, before=False), *CUDA[language])


def test_modules(tmp_path: Path) -> None:
    _judge(tmp_path, [row for row in TABLE if row["language"] == "SPIR-V"])


def test_the_table_is_of_six_languages() -> None:
    counts = {language: sum(row["language"] == language for row in TABLE) for language in (*SUFFIXES, "CUDA C++")}
    assert min(counts.values()) >= 20 and sum(counts.values()) >= 400
    assert all(row["why"] and row["launch"].startswith("--grid") for row in TABLE)
