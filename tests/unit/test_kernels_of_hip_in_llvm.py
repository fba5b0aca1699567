"""Kernels of HIP in LLVM, as clang makes it for AMD's GPUs: scopes as clang has them, what is refused by name and line,
and barriers under LLVM's model.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from absent import absent
from kernel_verdicts import checked

from backends.hip import llvm
from backends.shared.clang_llvm import INSTALL, clang
from corpus.code.launch.launch import KernelLaunch
from corpus.code.program import KernelProgram, program_of
from corpus.code.reading import CodeText
from corpus.code.refusals import NotUnderstoodError
from corpus.code.registry import read_compiled
from corpus.litmus.instructions import Barrier, Fence, Load, Rmw, Store
from corpus.litmus.orders import Order

pytestmark = pytest.mark.device

HEAD = "#include <hip/hip_runtime.h>\n"


@pytest.fixture(autouse=True)
def _compiler() -> None:
    if clang() is None:
        absent(f"HIP needs clang: {INSTALL}")


def program(folder: Path, text: str, threads: int = 1) -> KernelProgram:
    file, code = folder / "kernel.hip", folder / "kernel.ll"
    file.write_text(HEAD + text, encoding="utf-8")
    done = llvm.compile_kernels(file, code, ())
    assert done.ok, done.output
    found = read_compiled(CodeText(code.read_bytes(), str(file), text, done.names))
    (kernel,) = found.module.kernels
    names = found.names[kernel.name]
    return program_of(found.module, kernel, KernelLaunch((1, 1, 1), (threads, 1, 1), names=names))


RELAXED, AGENT = "__ATOMIC_RELAXED", "__HIP_MEMORY_SCOPE_AGENT"
DONE = {
    "*y = 1;": ["Store"],
    f"__hip_atomic_store(y, 1, __ATOMIC_RELEASE, {AGENT});": ["Store release gpu"],
    "__hip_atomic_load(y, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_WORKGROUP);": ["Load acquire cta"],
    "__hip_atomic_load(y, __ATOMIC_SEQ_CST, __HIP_MEMORY_SCOPE_SYSTEM);": ["Load sc sys"],
    "__hip_atomic_fetch_add(y, 1, __ATOMIC_ACQ_REL, __HIP_MEMORY_SCOPE_WAVEFRONT);": ["add acq_rel warp"],
    f"__hip_atomic_fetch_max((unsigned *)y, 1u, {RELAXED}, {AGENT});": ["max.u32 relaxed gpu"],
    f"__hip_atomic_exchange(y, 1, {RELAXED}, __HIP_MEMORY_SCOPE_SINGLETHREAD);": ["exch relaxed"],
    f"int e = 0; __hip_atomic_compare_exchange_strong(y, &e, 1, __ATOMIC_ACQ_REL, {RELAXED}, {AGENT});": [
        "cas acq_rel gpu"
    ],
    "atomicAdd(y, 1);": ["add relaxed gpu"],
    "atomicAdd_system(y, 1);": ["add relaxed sys"],
    "atomicCAS(y, 0, 1);": ["cas relaxed gpu"],
    "atomicAdd((float *)y, 1.0f);": ["add.f32 relaxed gpu"],
    "__threadfence();": ["Fence sc gpu"],
    "__threadfence_block();": ["Fence sc cta"],
    '__builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");': ["Fence release gpu"],
    '__builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");': ["Fence acquire warp"],
    "__builtin_amdgcn_s_sleep(1);": [],
    "y[threadIdx.x + blockIdx.x * blockDim.x + gridDim.x] = 1;": ["Store"],
}
"""What kernels do, and what is left of it."""


@pytest.mark.parametrize("body", DONE)
def test_scopes_and_orders_are_those_of_the_language(body: str, tmp_path: Path) -> None:
    found = []
    for residual in program(tmp_path, f"__global__ void k(int *y) {{ {body} *y = 7; }}").code[0]:
        match residual.instruction:
            case Load() | Store() | Rmw() | Fence() | Barrier() as ins:
                name = ins.operation if isinstance(ins, Rmw) else type(ins).__name__
                scope = ins.mode.scope.label if ins.mode.scope else ""
                order = "" if ins.mode.order is Order.WEAK else ins.mode.order.value
                found.append(" ".join(filter(None, (name, order, scope))))
    assert found[:-1] == DONE[body]


REFUSED = {
    '__builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent-one-as");': "the scope agent-one-as is not understood",
    '__builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent", "local");': "an order of some address spaces alone",
    "*y = __builtin_amdgcn_readfirstlane(*y);": "llvm.amdgcn.readfirstlane.i32 is not understood",
    "__builtin_amdgcn_wave_barrier();": "llvm.amdgcn.wave.barrier is not understood",
}


@pytest.mark.parametrize("body", REFUSED)
def test_what_is_not_understood_is_refused_by_name_and_line(body: str, tmp_path: Path) -> None:
    with pytest.raises(NotUnderstoodError) as raised:
        program(tmp_path, f"__global__ void k(int *y) {{\n  {body}\n}}")
    assert REFUSED[body] in str(raised.value) and raised.value.line == 3


def test_variables_of_a_module_are_memory(tmp_path: Path) -> None:
    text = """
    __device__ int total = 3;
    __constant__ int table[2] = {5, 6};
    struct Pair { int n; int *data; };
    __global__ void k(int *y, Pair p) {
      extern __shared__ int tile[];
      tile[threadIdx.x] = table[threadIdx.x];
      __syncthreads();
      p.data[threadIdx.x] = tile[1 - threadIdx.x] + total;
    }
    """
    found = program(tmp_path, text, threads=2)
    stored = [residual.accesses[0] for residual in found.code[0] if isinstance(residual.instruction, Store)]
    assert [(access.array.space, access.array.name, access.offset) for access in stored] == [
        ("shared", "tile", 0),
        ("argument", "p.data", 0),
    ]
    assert "table holds what the module gives it" in found.assumed


FENCES = ('__builtin_amdgcn_fence(__ATOMIC_RELEASE, "{}");', '__builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "{}");')
BARRIERS = {
    "both": ("__builtin_amdgcn_s_barrier();".join(FENCES).replace("{}", "workgroup"), "SAFE"),
    "bare": ("__builtin_amdgcn_s_barrier();", "FOUND"),
    "half": (FENCES[0].replace("{}", "workgroup") + "__builtin_amdgcn_s_barrier();", "FOUND"),
    "narrow": ("__builtin_amdgcn_s_barrier();".join(FENCES).replace("{}", "wavefront"), "FOUND"),
    "wider": ("__threadfence(); __builtin_amdgcn_s_barrier(); __threadfence_block();", "SAFE"),
    "turned": ("__builtin_amdgcn_s_barrier();".join(reversed(FENCES)).replace("{}", "workgroup"), "FOUND"),
    "hip": ("__syncthreads();", "SAFE"),
}
"""What stands between a write to shared memory and a read of it by another wavefront, and whether these race."""


@pytest.mark.parametrize("model", ["amdgpu", "opencl"])
@pytest.mark.parametrize("name", BARRIERS)
def test_barriers_between_fences(name: str, model: str, tmp_path: Path) -> None:
    """A barrier synchronises the fences on either side of it (LLVM, AMDGPU Execution Synchronization)."""
    body, verdict = BARRIERS[name]
    file = tmp_path / "kernel.hip"
    text = f"__shared__ int t[2]; t[threadIdx.x] = 1; {body} y[threadIdx.x] = t[1 - threadIdx.x];"
    file.write_text(f'{HEAD}extern "C" __global__ void k(int *y) {{ {text} }}\n', encoding="utf-8")
    (one,) = checked([file], "--grid", "1", "--block", "2", "--warp", "1", "-m", model)
    assert one["answers"]["race"] == verdict
