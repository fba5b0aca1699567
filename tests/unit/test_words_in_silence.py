"""Small kernels in which one word of the language decides, each judged wrong or refused by name, none in silence.

Each language's kernels are compiled and asked about by one command. A row is the kernel, its launch, and what is said:
the kinds of what is found; ``SAFE``; ``UNKNOWN`` and the kinds without an answer; or a part of why it is not
understood.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from commands import synth


class Trap(NamedTuple):
    text: str
    said: str
    launch: str = "--grid 2"


def _writes(call: str, kind: str = "float") -> str:
    return f"kernel void k(global {kind} *a, global float *out) {{ out[get_global_id(0)] = {call}; }}"


OPENCL = {
    "vstore4": Trap("kernel void k(global float *out) { vstore4((float4)(1.0f), 0, out); }", "race"),
    "vload2": Trap(
        "kernel void k(global int *a, global int *out) {"
        " if (get_global_id(0)) a[1] = 1; else out[0] = vload2(0, a).x; }",
        "race",
    ),
    "vstore_elsewhere": Trap(
        "kernel void k(global int *out) { int i = get_global_id(0); vstore2((int2)(i, 7), i, out); }",
        "SAFE",
        "--grid 2 --expect 'out[0] == 0 && out[1] == 7 && out[2] == 1 && out[3] == 7'",
    ),
    "vstore_half": Trap("kernel void k(global half *out) { vstore_half(1.0f, 0, out); }", "race"),
    "vstore_half_rounded": Trap(
        "kernel void k(global half *out) { vstore_half2_rtp((float2)(2049.0f, 1.5f), 0, out); }",
        "SAFE",
        "--grid 1 --expect 'out[0] == 0x6801 && out[1] == 0x3e00'",
    ),
    "vload_half": Trap(
        "kernel void k(global ushort *h, global float *out) { out[0] = vload_half(1, (global half *)h); }",
        "SAFE",
        "--grid 1 --arg h=[0,15872] --expect 'out[0] == 0x3fc00000'",
    ),
    "vloada_half3": Trap(
        "kernel void k(global half *a, global float *out) {"
        " if (get_global_id(0)) vstore_half(1.0f, 4, a); else out[0] = vloada_half3(1, a).x; }",
        "race",
    ),
    "vstorea_half4": Trap(
        "kernel void k(global half *a) { vstorea_half4_rtz((float4)(1.0f), 0, a + 1); }", "bounds", "--grid 1"
    ),
    "fract": Trap(_writes("fract(1.5f, a)"), "race"),
    "modf": Trap(_writes("modf(1.5f, a)"), "race"),
    "frexp": Trap(_writes("frexp(1.5f, a)", "int"), "race"),
    "sincos": Trap(_writes("sincos(1.5f, a)"), "race"),
    "remquo": Trap(_writes("remquo(1.5f, 1.0f, a)", "int"), "race"),
    "lgamma_r": Trap(_writes("lgamma_r(1.5f, a)", "int"), "race"),
    "prefetch": Trap("kernel void k(global int *a) { if (get_global_id(0)) prefetch(a, 4); else a[0] = 1; }", "SAFE"),
    "printf": Trap(_writes('printf("%d", 1) ? 1 : a[0]'), "nothing tells|depends on the result of OpExtInst"),
    "async_copy": Trap(
        "kernel void k(global int *a, local int *l) {"
        " event_t e = async_work_group_copy(l, a, 4, 0); wait_group_events(1, &e); }",
        "OpGroupAsyncCopy",
    ),
    "function_elsewhere": Trap(
        "int g(global int *); kernel void k(global int *a) { a[0] = g(a); }", "g is not in the module"
    ),
    "variable_elsewhere": Trap(
        "extern constant int n; kernel void k(global int *a) { if (n) a[0] = 1; }", "what n holds is not in the module"
    ),
    "by_value": Trap(  # FuncParamAttr ByVal, which was not looked at
        "struct S { int a; int b[9]; };\n__attribute__((noinline)) int f(struct S s, int n)"
        " { s.a = n; s.b[n] = 2; return s.a + s.b[0]; }\nkernel void k(global int *out) { struct S s;"
        " for (int i = 0; i < 9; i++) s.b[i] = i; s.a = 7; out[1] = f(s, 1); out[0] = s.a; }",
        "SAFE",
        "--grid 1 --expect 'out[0] == 7 && out[1] == 1'",
    ),
    "other_size": Trap(  # CL_INVALID_WORK_GROUP_SIZE (OpenCL 3.0, 5.8)
        "__attribute__((reqd_work_group_size(2, 1, 1))) kernel void k(global int *a) { a[0] = 1; }",
        "expected a block of 2x1x1 threads, by LocalSize, found 1x1x1",
        "--grid 1 --block 1",
    ),
    "own_size": Trap(
        "__attribute__((reqd_work_group_size(2, 1, 1))) kernel void k(global int *a) { a[0] = 1; }", "race", "--grid 1"
    ),
    "hinted_size": Trap(
        "__attribute__((work_group_size_hint(2, 1, 1))) kernel void k(global int *a) { a[0] = 1; }",
        "SAFE",
        "--grid 1 --block 1",
    ),
    "misaligned": Trap("kernel void k(global char *a) { *(global int *)(a + 1) = 1; }", "bounds", "--grid 1"),
    "packed": Trap(
        "struct __attribute__((packed)) Two { char c; int n; };\n"
        "kernel void k(global struct Two *a) { a[get_global_id(0)].n = 1; }",
        "SAFE",
    ),
    "undefined_decides": Trap(
        "kernel void k(global int *a) { int x; int i = get_global_id(0);"
        " if (i == 0) a[0] = x; barrier(CLK_GLOBAL_MEM_FENCE); if (a[0] == 5) a[1] = 1; }",
        "x at byte 0, which the thread has not written so",
        "--grid 1",
    ),
    "undefined_expected": Trap(
        "kernel void k(global int *a) { int x; a[0] = x; }", "UNKNOWN expectation", "--grid 1 --expect 'a[0] != 5'"
    ),
    "component": Trap(
        "kernel void k(global int4 *a, global int3 *b, global int *o) { int i = get_global_id(0);"
        " if (i == 0) { a[0].x = 1; b[0].x = 1; } else { o[0] = a[0].y; b[0].y = 2; o[1] = b[0].z; } }",
        "SAFE",
    ),
    "same_component": Trap(
        "kernel void k(global int4 *a, global int *o) {"
        " if (get_global_id(0)) a[0].xy = (int2)(1, 2); else o[0] = a[0].y; }",
        "race",
    ),
    "whole_vector": Trap(
        "kernel void k(global int4 *a, global int4 *o) { if (get_global_id(0)) a[0].x = 1; else o[0] = a[0]; }", "race"
    ),
    "shuffled": Trap(
        "kernel void k(global int4 *a, global int *o) { a[0].x = 5; a[0].yz = (int2)(6, 7); o[0] = a[0].x;"
        " a[0] = a[0].zyxw; o[1] = a[0].x; }",
        "SAFE",
        "--grid 1 --expect 'o[0] == 5 && o[1] == 7 && a[0] == 7 && a[2] == 5 && a[3] == 0'",
    ),
    "legacy_atomic": Trap("kernel void k(global int *a) { atomic_add(a, 1); atomic_inc(a); }", "SAFE"),
    "scoped_atomic": Trap(
        "kernel void k(global atomic_int *a) {"
        " atomic_fetch_add_explicit(a, 1, memory_order_relaxed, memory_scope_work_group); }",
        "race",
    ),
}

SHIFTED = "--grid 1 --expect 'w == 0'"

GLSL = {
    "modf": Trap("buffer B { float w; float o[]; };|o[me] = modf(1.5, w);", "race", "--grid 1"),
    "frexp": Trap("buffer B { int w; float o[]; };|o[me] = frexp(1.5, w);", "race", "--grid 1"),
    "size_by_constant": Trap("buffer B { int w; };|w = 1;", "race", "--grid 1"),
    "size_by_a_launch": Trap("buffer B { int w; };|w = 1;", "SAFE", "--grid 1 --block 1"),
    "size_by_x": Trap("buffer B { int w; };|w = 1;", "race", "--grid 1 --block 1x2"),
    "size_by_x_alone": Trap("buffer B { int w; };|w = 1;", "expected a block of 2x2x1 threads", "--grid 1 --block 2"),
    "other_size": Trap(
        "buffer B { int w; };|w = 1;",
        "expected a block of 2x1x1 threads, by LocalSize, found 1x2x1",
        "--grid 1 --block 1x2",
    ),
    "shift": Trap("buffer B { uint w; uint o; };|if (me == 0) w = 1u << (me + 32);", "UNKNOWN expectation", SHIFTED),
    "rest": Trap(
        "buffer B { int w; }; layout(binding = 1) buffer A { int a; };|if (me == 0) w = a % 2;",
        "UNKNOWN expectation",
        "--grid 1 --arg a=[-3] --expect 'w == -1'",
    ),
    "untold": Trap("buffer B { int w; float f; };|if (sin(f) > 0.5) w = 1;", "nothing tells|depends on", "--grid 1"),
}

OUT = "buffer B { uint o[]; };"

GLSL |= {
    "subgroup_lane": Trap(f"{OUT}|o[gl_SubgroupInvocationID] = me;", "SAFE", "--grid 1 --warp 2"),
    "subgroup_lane_alone": Trap(f"{OUT}|o[gl_SubgroupInvocationID] = me;", "race", "--grid 1 --warp 1"),
    "subgroup_id": Trap(f"{OUT}|o[gl_SubgroupID] = me;", "SAFE", "--grid 1 --warp 1"),
    "subgroup_id_one": Trap(f"{OUT}|o[gl_SubgroupID] = me;", "race", "--grid 1 --warp 2"),
    "subgroup_size": Trap(f"{OUT}|o[me % gl_SubgroupSize] = me;", "SAFE", "--grid 1 --warp 2"),
    "subgroup_size_one": Trap(f"{OUT}|o[me % gl_SubgroupSize] = me;", "race", "--grid 1 --warp 1"),
    "subgroup_count": Trap(f"{OUT}|o[me % gl_NumSubgroups] = me;", "SAFE", "--grid 1 --warp 1"),
    "subgroup_count_one": Trap(f"{OUT}|o[me % gl_NumSubgroups] = me;", "race", "--grid 1 --warp 2"),
    "subgroup_sum": Trap(
        f"{OUT}|o[me] = (gl_SubgroupInvocationID ^ 1) + 100 * gl_SubgroupSize + 7 * gl_SubgroupID + gl_NumSubgroups;",
        "SAFE",
        "--grid 1 --warp 1 --expect 'o[0] == 103 && o[1] == 110'",
    ),
    "subgroup_of_16_bits": Trap(
        f"{OUT}|o[me] = gl_SubgroupSize * 40000;", "UNKNOWN expectation", "--grid 1 --warp 1 --expect 'o[0] == 40000'"
    ),
    "subgroup_shifted": Trap(
        f"{OUT}|o[me] = gl_SubgroupSize >> 20;", "UNKNOWN expectation", "--grid 1 --warp 1 --expect 'o[0] == 0'"
    ),
    "subgroup_relaxed": Trap(
        f"{OUT}|mediump uint x = o[0]; if (x == 70000) o[1] = me;", "RelaxedPrecision is not understood here"
    ),
    "subgroup_float": Trap(
        f"{OUT}|mediump float x = float(o[0]); if (x > 1) o[1] = me;", "RelaxedPrecision is not understood here"
    ),
}

WGSL = {
    "zeroed": Trap("var<workgroup> s: u32;|out[me] = s;", "SAFE", "--grid 1 --expect 'out[0] == 0 && out[1] == 0'"),
    "private": Trap("var<private> p: u32;|out[me] = p;", "SAFE", "--grid 1 --expect 'out[0] == 0'"),
    "other_barrier": Trap("|out[me] = me; workgroupBarrier(); out[2u + me] = out[1u - me];", "race", "--grid 1"),
    "own_barrier": Trap("|out[me] = me; storageBarrier(); out[2u + me] = out[1u - me];", "SAFE", "--grid 1"),
    "component": Trap(
        "var<workgroup> v: vec4<u32>;|if me == 0u { v.x = 1u; } else { out[0] = v.y; }", "SAFE", "--grid 1"
    ),
    "other_size": Trap("|out[me] = me;", "expected a block of 2x1x1 threads", "--grid 1 --block 4"),
    "modf": Trap(
        "|let p = modf(f32(out[0])); if p.fract > 0.5 { out[1] = 1u; }", "nothing tells|depends on", "--grid 1"
    ),
}


HIP = {
    "scope": Trap(
        "k(int *a, int *f) { if (blockIdx.x) {"
        " if (__hip_atomic_load(f, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_WORKGROUP)) a[1] = a[0]; }"
        " else { a[0] = 1; __hip_atomic_store(f, 1, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_WORKGROUP); } }",
        "race",
    ),
    "scopes": Trap(
        "k(int *a, int *f) { if (blockIdx.x) { if (__hip_atomic_load(f, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT))"
        " a[1] = a[0]; } else { a[0] = 1; __hip_atomic_store(f, 1, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT); } }",
        "SAFE",
    ),
    "fence": Trap(
        "k(int *a, int *f) { if (blockIdx.x) { if (atomicAdd(f, 0)) { __threadfence(); a[1] = a[0]; } }"
        " else { a[0] = 1; __threadfence_block(); atomicExch(f, 1); } }",
        "race",
    ),
    "fences": Trap(
        "k(int *a, int *f) { if (blockIdx.x) { if (atomicAdd(f, 0)) {"
        ' __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent"); a[1] = a[0]; } }'
        " else { a[0] = 1; __threadfence(); atomicExch(f, 1); } }",
        "SAFE",
    ),
    "barrier_alone": Trap(
        "k(int *a) { __shared__ int s[2]; s[threadIdx.x] = 1; __builtin_amdgcn_s_barrier();"
        " a[threadIdx.x] = s[1 - threadIdx.x]; }",
        "race uninitialised",
        "--block 2",
    ),
    "barrier": Trap(
        "k(int *a) { __shared__ int s[2]; s[threadIdx.x] = 1; __syncthreads(); a[threadIdx.x] = s[1 - threadIdx.x]; }",
        "SAFE",
        "--block 2",
    ),
    "signs": Trap(
        "k(unsigned *a) { atomicMin(a, 5u); atomicMin((int *)a + 1, 5); }",
        "SAFE",
        "--grid 1 --arg a=[-1,-1] --expect 'a[0] == 5 && a[1] == -1'",
    ),
    "libcall": Trap("k(int *a) { __atomic_fetch_add(a, 1, __ATOMIC_RELAXED); }", "SAFE"),
    "volatile": Trap("k(int *a) { volatile int *v = a; v[0] = blockIdx.x; }", "race"),
}


def _said(answers: list[dict[str, Any]]) -> str:
    """What is said of a kernel's launches together."""
    found = {name for one in answers for name, answer in one["answers"].items() if answer == "FOUND"}
    problems = [one["problem"] for one in answers if one.get("problem")]
    if found or problems:
        return " ".join((*sorted(found), *problems))
    unknown = {name for one in answers for name, answer in one["answers"].items() if answer == "UNKNOWN"}
    return f"UNKNOWN {' '.join(sorted(unknown))}" if unknown else "SAFE"


def _check(folder: Path, suffix: str, traps: dict[str, Trap], text: Callable[[str, Trap], str]) -> None:
    for name, trap in traps.items():
        (folder / f"{name}{suffix}").write_text(
            f"{text(name, trap)}\n// synth check: {trap.launch}\n", encoding="utf-8"
        )
    result = synth("check", folder, "--json", "--jobs", 1)
    answers: dict[str, list[dict[str, Any]]] = {}
    for one in json.loads(result.stdout):
        answers.setdefault(Path(one["file"]).stem, []).append(one)
    said = {name: _said(answers[name]) for name in traps}
    wrong = {name: each for name, each in said.items() if not _agrees(each, traps[name].said)}
    assert wrong == {}, {name: traps[name].said for name in wrong}


def _agrees(said: str, wanted: str) -> bool:
    if (" " in wanted and not wanted.startswith("UNKNOWN")) or wanted.startswith("Op"):
        return any(each in said for each in wanted.split("|"))
    return said == wanted


@pytest.mark.device
def test_words_of_opencl(to_spirv: Callable[[str], None], tmp_path: Path) -> None:
    to_spirv("opencl")
    _check(tmp_path, ".cl", OPENCL, lambda name, trap: trap.text)


@pytest.mark.device
def test_words_of_hip(to_spirv: Callable[[str], None], tmp_path: Path) -> None:
    to_spirv("hip")
    head = '#include <hip/hip_runtime.h>\nextern "C" __global__ void '
    _check(tmp_path, ".hip", HIP, lambda name, trap: head + trap.text)


@pytest.mark.device
def test_words_of_glsl(to_spirv: Callable[[str], None], tmp_path: Path) -> None:
    to_spirv("glsl")

    def text(name: str, trap: Trap) -> str:
        buffer, body = trap.text.split("|")
        size = "local_size_x_id = 0" if name.startswith("size_by") else "local_size_x = 2"
        size += ", local_size_y = 2" * name.startswith("size_by_x")
        words = "#extension GL_KHR_shader_subgroup_basic : require\n" if name.startswith("subgroup") else ""
        head = f"#version 450\n{words}layout({size}) in;\nlayout(binding = 0) {buffer}\n"
        return f"{head}void main() {{ uint me = gl_GlobalInvocationID.x; {body} }}"

    _check(tmp_path, ".comp", GLSL, text)


@pytest.mark.slow
@pytest.mark.device
def test_words_of_wgsl(need: Callable[..., None], tmp_path: Path) -> None:
    need("wgsl")

    def text(name: str, trap: Trap) -> str:
        variable, body = trap.text.split("|", 1)
        head = f"@group(0) @binding(0) var<storage, read_write> out: array<u32>;\n{variable}\n"
        return f"{head}@compute @workgroup_size(2) fn main(@builtin(local_invocation_index) me: u32) {{\n  {body}\n}}"

    _check(tmp_path, ".wgsl", WGSL, text)
    result = synth("check", tmp_path / "other_barrier.wgsl", "--jobs", 1)
    assert "under webgpu" in result.stdout and "other_barrier.wgsl:4:3: OpStore" in result.stdout
