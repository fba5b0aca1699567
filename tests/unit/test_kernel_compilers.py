"""Kernels in GLSL, OpenCL C and WGSL are compiled to SPIR-V: what is needed, what is refused, and which lines come
out.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from commands import synth

from backends.cuda import headers
from backends.shared.clang_spirv import tools
from backends.shared.toolchain import which

GLSL = """\
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model
layout(local_size_x = 1) in;
layout(binding = 0) nonprivate buffer Count { int count; };
#ifdef STEP
void main() { count += STEP; }
#endif
"""
OPENCL = """\
#ifdef STEP
kernel void step(global int *count) { *count += STEP; }
#endif
"""
WGSL = """\
@group(0) @binding(0) var<storage, read_write> count: i32;
@compute @workgroup_size(1) fn main() { count += 1; }
"""
SOURCES = {".comp": GLSL, ".glsl": GLSL, ".cl": OPENCL, ".wgsl": WGSL}


def written(folder: Path, suffix: str, text: str = "") -> Path:
    path = folder / f"kernel{suffix}"
    path.write_text(text or SOURCES[suffix], encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("suffix", "needed"),
    [
        (".comp", "glslang is needed for GLSL: pip install"),
        (".glsl", "glslang is needed for GLSL: pip install"),
        (
            ".cl",
            "clang, and its header of OpenCL C, are needed for OpenCL C: pip install ziglang pocl-",
        ),
        (".wgsl", "wgpu, naga or tint is needed for WGSL: "),
    ],
)
def test_a_compiler_that_is_not_there_is_named(bare_machine: None, tmp_path: Path, suffix: str, needed: str) -> None:
    result = synth("check", written(tmp_path, suffix))
    assert result.exit_code == 2 and needed in result.stderr and result.stderr.count("\n") == 1


@pytest.mark.device
@pytest.mark.parametrize(("suffix", "backend"), [(".comp", "glsl"), (".glsl", "glsl"), (".cl", "opencl")])
def test_a_race_is_at_its_line_of_the_source(
    to_spirv: Callable[[str], None], tmp_path: Path, suffix: str, backend: str
) -> None:
    """Options reach the compiler: without STEP there is no kernel."""
    to_spirv(backend)
    result = synth("check", written(tmp_path, suffix), "--grid", 2, "-X", "-DSTEP=2", "--json", "-j", 1)
    (one,) = json.loads(result.stdout)
    (race,) = one["findings"]
    lines = {line["line"] for place in race["places"] for line in place["lines"]}
    line = 1 + SOURCES[suffix].splitlines().index(next(t for t in SOURCES[suffix].splitlines() if "+= STEP" in t))
    assert one["model"] == {"glsl": "vulkan", "opencl": "opencl"}[backend]
    assert (race["kind"], lines) == ("race", {line})


@pytest.mark.device
@pytest.mark.parametrize(("suffix", "backend"), [(".comp", "glsl"), (".cl", "opencl")])
def test_what_the_compiler_says_is_a_line(
    to_spirv: Callable[[str], None], tmp_path: Path, suffix: str, backend: str
) -> None:
    to_spirv(backend)
    text = {".comp": "#version 450\nvoid main() { x = 1; }\n", ".cl": "\nkernel void k(global int *p) { x = 1; }\n"}
    result = synth("check", written(tmp_path, suffix, text[suffix]))
    assert result.exit_code == 2 and result.stderr.count("\n") == 1
    assert f"kernel{suffix}:2:" in result.stderr and "undeclared identifier" in result.stderr


def stand_in(folder: Path, name: str, code: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A compiler on PATH, and nothing else, that writes a module as the last of its arguments; and what it is given."""
    program, given = folder / name, folder / "given"
    last = 'for last; do case "$last" in *.spv) out="$last";; esac; done'
    seen = f"/bin/cp synth-0.wgsl {folder}/seen"
    program.write_text(f'#!/bin/sh\necho "$@" > {given}\n{seen}\n{last}\n/bin/cp {code} "$out"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))
    return given


@pytest.mark.skipif(os.name != "posix", reason="the stand-in is a shell script")
@pytest.mark.device
@pytest.mark.parametrize("name", ["naga", "tint"])
def test_wgsl_by_what_is_on_path(
    to_spirv: Callable[[str], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    to_spirv("glsl")
    from backends.glsl.spirv import compile_shader

    code = tmp_path / "made.spv"
    assert compile_shader(written(tmp_path, ".comp"), code, ["-DSTEP=1"]).ok
    given = stand_in(tmp_path, name, code, monkeypatch)
    result = synth("check", written(tmp_path, ".wgsl"), "--grid", 2, "--json", "-j", 1)
    assert [each["kind"] for each in json.loads(result.stdout)[0]["findings"]] == ["race"]
    assert given.read_text().split()[-2:] in (["synth-0.wgsl", "synth-made.spv"], ["synth-made.spv", "synth-0.wgsl"])


@pytest.mark.skipif(os.name != "posix", reason="the stand-in is a shell script")
@pytest.mark.parametrize("name", ["naga", "tint"])
def test_what_translates_wgsl_is_handed_the_zeros_of_loops(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    from backends.wgsl.spirv import compile_shader

    made = tmp_path / "made.spv"
    made.write_bytes(b"code")
    stand_in(tmp_path, name, made, monkeypatch)
    loop = "fn f() { for (var i = 0; i < 2; i++) {\n  var x: vec2<\n u32>;\n  x.y += 1; } }\n"
    assert compile_shader(written(tmp_path, ".wgsl", loop), tmp_path / "code.spv").ok
    assert (tmp_path / "seen").read_text() == loop.replace("u32>;", "u32> = vec2< u32>();")


@pytest.mark.device
def test_wgsl_by_the_naga_in_wgpu(need: Callable[..., None], tmp_path: Path) -> None:
    """Names and lines are those of the source, an error is one line, and of several entry points one is named."""
    need("wgsl")
    if which("naga", "tint"):
        pytest.skip("a compiler of WGSL is on PATH")
    path = written(tmp_path, ".wgsl")
    (one,) = json.loads(synth("check", path, "--grid", 2, "--json", "-j", 1).stdout)
    (race,) = one["findings"]
    assert (one["model"], race["kind"]) == ("webgpu", "race")
    assert {line["line"] for place in race["places"] for line in place["lines"]} == {2}
    result = synth("check", written(tmp_path, ".wgsl", "\n@compute @workgroup_size(1) fn main() { x = 1; }\n"))
    assert result.exit_code == 2 and result.stderr.count("\n") == 1
    assert "kernel.wgsl:2:41: error: no definition in scope for identifier: `x`" in result.stderr
    two = WGSL + WGSL.partition("\n")[2].replace("main", "other")
    result = synth("check", written(tmp_path, ".wgsl", two))
    assert result.exit_code == 2 and "name one of the entry points, as in -X NAME: main, other" in result.stderr
    result = synth("check", path, "--grid", 2, "--json", "-j", 1, "-X", "other")
    assert json.loads(result.stdout)[0]["kernel"] == "other"


@pytest.mark.device
def test_clang_and_its_translator_are_of_one_version(to_spirv: Callable[[str], None]) -> None:
    to_spirv("opencl")
    found = tools()
    assert found is not None
    assert found.clang.name.removeprefix("clang") == found.translator.name.removeprefix("llvm-spirv")


def test_kernels_that_are_not_repaired(tmp_path: Path) -> None:
    result = synth("fix", written(tmp_path, ".comp"))
    assert result.exit_code == 2 and "but does not repair them" in result.stderr


@pytest.mark.parametrize(
    ("header", "advice"),
    [
        ("cuda_profiler_api.h", "pip install nvidia-cuda-profiler-api"),
        ("curand_kernel.h", "pip install nvidia-curand"),
        ("cub/cub.cuh", "pip install nvidia-cuda-cccl"),
        ("helper_cuda.h", "-X -IFOLDER names the folder that it is in"),
    ],
)
def test_a_header_that_is_missing_names_its_package(header: str, advice: str) -> None:
    assert headers.advice(f"k.cu:1:10: fatal error: {header}: No such file or directory") == advice
    assert headers.advice("k.cu(1): error: expected a declaration") == ""
