"""Kernels of OpenCL C in LLVM: what is left of functions of the language, what is refused by name and line, and that
what is read is what SPIR-V's reader reads.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from absent import absent

from backends.opencl import llvm, spirv
from backends.shared.clang_spirv import tools
from corpus.code.launch.launch import KernelLaunch
from corpus.code.llvm.opencl import plain_name
from corpus.code.program import KernelProgram, program_of
from corpus.code.reading import CodeText, ReadCode
from corpus.code.refusals import NotUnderstoodError
from corpus.code.registry import read_compiled
from corpus.litmus.instructions import Barrier, Fence, Load, Rmw, Store
from corpus.litmus.orders import Order, Scope

PAIR = KernelLaunch((1, 1, 1), (2, 1, 1))
ONE = KernelLaunch((1, 1, 1), (1, 1, 1))


@pytest.fixture(autouse=True)
def _compiler() -> None:
    if lacking := llvm.missing():
        absent(f"OpenCL C needs {lacking}: {llvm.NEEDED}")


def read(folder: Path, text: str, as_spirv: bool = False) -> ReadCode:
    file, code = folder / "kernel.cl", folder / ("kernel.spv" if as_spirv else "kernel.ll")
    file.write_text(text, encoding="utf-8")
    done = spirv.compile_kernels(file, code) if as_spirv else llvm.compile_kernels(file, code, (), ("-cl-std=CL2.0",))
    assert done.ok, done.output
    return read_compiled(CodeText(code.read_bytes(), str(file), text, done.names))


def program(folder: Path, text: str, launch: KernelLaunch = PAIR, as_spirv: bool = False) -> KernelProgram:
    found = read(folder, text, as_spirv)
    (kernel,) = found.module.kernels
    return program_of(found.module, kernel, launch)


def left(folder: Path, body: str, launch: KernelLaunch = ONE) -> list[str]:
    """What is left of a kernel's first thread: accesses, fences and barriers, with orders, scopes and tags."""
    text = f"kernel void k(global atomic_int *x, global int *y, local int *z) {{ {body} }}"
    found = []
    for residual in program(folder, text, launch).code[0]:
        match residual.instruction:
            case Load() | Store() | Rmw() | Fence() | Barrier() as ins:
                name = type(ins).__name__ if not isinstance(ins, Rmw) else ins.operation
                scope = ins.mode.scope.label if ins.mode.scope else ""
                order = "" if ins.mode.order is Order.WEAK else ins.mode.order.value
                found.append(" ".join(filter(None, (name, order, scope, *ins.mode.tags))))
    return found


DONE = {
    "*y = 1;": ["Store"],
    "atomic_store_explicit(x, 1, memory_order_release, memory_scope_device);": ["Store release gpu"],
    "atomic_store_explicit(x, 1, memory_order_relaxed);": ["Store relaxed gpu"],
    "atomic_store(x, 1);": ["Store sc gpu"],
    "atomic_load_explicit(x, memory_order_acquire, memory_scope_work_group);": ["Load acquire cta"],
    "atomic_load_explicit(x, memory_order_seq_cst, memory_scope_all_svm_devices);": ["Load sc sys"],
    "atomic_fetch_add_explicit(x, 1, memory_order_acq_rel, memory_scope_sub_group);": ["add acq_rel warp"],
    "atomic_exchange_explicit(x, 1, memory_order_relaxed, memory_scope_device);": ["exch relaxed gpu"],
    "atomic_fetch_max((global atomic_uint *)x, 1u);": ["max.u32 sc gpu"],
    "atomic_fetch_min(x, 1);": ["min sc gpu"],
    "atomic_add(y, 1);": ["add relaxed gpu"],
    "atomic_inc(y);": ["add relaxed gpu"],
    "atomic_cmpxchg(y, 0, 1);": ["cas relaxed gpu"],
    "atomic_init(x, 1);": ["Store"],
    "atomic_flag_test_and_set((global atomic_flag *)x);": ["exch sc gpu"],
    "atomic_flag_clear_explicit((global atomic_flag *)x, memory_order_release);": ["Store release gpu"],
    "int e = 0; atomic_compare_exchange_strong(x, &e, 1);": ["cas sc gpu"],
    "atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acquire, memory_scope_device);": [
        "Fence acquire gpu global-fence"
    ],
    "atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE, memory_order_seq_cst, memory_scope_device);": [
        "Fence sc gpu"
    ],
    "atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_relaxed, memory_scope_device);": [],
    "mem_fence(CLK_LOCAL_MEM_FENCE);": ["Fence acq_rel cta local-fence"],
    "read_mem_fence(CLK_LOCAL_MEM_FENCE);": ["Fence acquire cta local-fence"],
    "write_mem_fence(CLK_LOCAL_MEM_FENCE);": ["Fence release cta local-fence"],
}
"""What kernels do, and what is left of it."""


@pytest.mark.device
@pytest.mark.parametrize("body", DONE)
def test_functions_are_what_the_language_says(body: str, tmp_path: Path) -> None:
    assert left(tmp_path, f"{body} *y = 7;")[:-1] == DONE[body]


BARRIERS = {
    "barrier(CLK_LOCAL_MEM_FENCE);": (Scope.CTA, "Barrier local-fence"),
    "barrier(0);": (Scope.CTA, "Barrier image-fence"),
    "work_group_barrier(CLK_GLOBAL_MEM_FENCE);": (Scope.CTA, "Barrier global-fence"),
    "work_group_barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);": (Scope.CTA, "Barrier"),
    "work_group_barrier(CLK_LOCAL_MEM_FENCE, memory_scope_device);": (Scope.CTA, "Barrier acq_rel gpu local-fence"),
    "sub_group_barrier(CLK_LOCAL_MEM_FENCE);": (Scope.WARP, "Barrier local-fence"),
}


@pytest.mark.device
@pytest.mark.parametrize("body", BARRIERS)
def test_barriers_order_the_memory_that_they_name(body: str, tmp_path: Path) -> None:
    assert left(tmp_path, f"{body} *y = 7;", PAIR)[:-1] == [BARRIERS[body][1]]


REFUSED = {
    "int o = *y; atomic_store_explicit(x, 1, o, memory_scope_device);": "the order of which is no constant",
    "int o = *y; atomic_load_explicit(x, memory_order_relaxed, o);": "the scope of which is no constant",
    "int o = *y; barrier(o);": "the memory of which is no constant",
    "barrier(64);": "the flags 0x40 are not understood",
    "async_work_group_copy(z, y, 4, 0);": "async_work_group_copy is not understood",
    "y[get_global_id(*y)] = 1;": "the dimension of which is no constant",
    "y[0] = convert_int_sat((float)y[1]);": "convert_int_sat of this type is not understood",
    "y[0] = convert_int_rtp((float)y[1]);": "its mode of rounding is not understood",
    "y[0] = ilogb((float)y[1]); float f; fract(2.5f, &f);": "fract is not understood",
}
"""What is not understood, and what is said of it."""


@pytest.mark.device
@pytest.mark.parametrize("body", REFUSED)
def test_what_is_not_understood_is_refused_by_name_and_line(body: str, tmp_path: Path) -> None:
    text = f"kernel void k(global atomic_int *x, global int *y, local int *z) {{\n\n  {body} }}"
    with pytest.raises(NotUnderstoodError) as raised:
        program(tmp_path, text)
    assert REFUSED[body] in str(raised.value) and raised.value.line == 3


@pytest.mark.device
def test_components_of_vectors_are_places_of_their_own(tmp_path: Path) -> None:
    text = "kernel void k(global int2 *p) { if (get_local_id(0)) p[0].x = 1; else p[0].y = p[1].y; }"
    one, other = program(tmp_path, text).code
    accesses = [[access.offset for residual in code for access in residual.accesses] for code in (one, other)]
    assert accesses == [[12, 4], [0]]


@pytest.mark.device
def test_an_address_that_is_no_multiple_is_a_finding(tmp_path: Path) -> None:
    text = "kernel void k(global char *p) { *(global int *)(p + 1) = 1; }"
    assert program(tmp_path, text, ONE).marks.stops == ((0, "stopped_by_misaligned"),)


@pytest.mark.device
def test_parameters_and_sizes_have_the_names_of_the_source(tmp_path: Path) -> None:
    text = """
    struct P { int n; global char *text; int2 v; };
    kernel void k(global long *data, local float *tile, constant int *c, struct P p, ushort3 few, double d) {}
    """
    found = read(tmp_path, text)
    (kernel,) = found.module.kernels
    assert found.names["k"] == ("data", "tile", "c", "p", "few", "d")
    assert found.sizes["k"] == (8, None, 4, None, None, None)
    fields = [parameter.name for parameter in kernel.parameters if parameter not in kernel.declared]
    assert fields == ["p.n", "p.text", "p.v.x", "p.v.y", "few.x", "few.y", "few.z"]


@pytest.mark.device
def test_the_size_of_a_work_group_is_read(tmp_path: Path) -> None:
    text = "__attribute__((reqd_work_group_size(4, 2, 1))) kernel void k(global int *p) {}"
    assert read(tmp_path, text).module.kernels[0].block_size.threads == (4, 2, 1)


ALIKE = """
int helper(int n, private int *x) { *x += n; return n * 2; }
kernel void k(global int *a) {
  int g = get_global_id(0), b = g + 2, x = 3;
  a[g] = min(b, g) + max((uint)b, (uint)g) + mad24(g, 2, 3) + clamp(g, 0, 1) + abs(g - 1) + popcount(g) + clz(g)
    + mul_hi(g, 3) + select(b, g, g) + rotate(b, 3) + upsample((short)g, (ushort)b) + convert_uchar_sat(g * 300)
    + add_sat(g, b) + convert_int(1.5f) + (int)fma(2.0f, 3.0f, 4.0f) + helper(g, &x) + x;
  int4 w = vload4(0, a + 8); vstore4(w, 1, a + 16 + 16 * g);
  a[64 + g] = work_group_reduce_add(g) + work_group_scan_exclusive_add(g) + sub_group_all(g < 3) + work_group_any(g);
  float4 q = (float4)(1.0f, 2.0f, 3.0f, g); a[80 + g] = as_int(q.w) + as_int(dot(q, q));
  uint2 sw = (uint2)(g, 1).yx; a[90 + g] = sw.x;
  char c = -3; ushort us = 65535; a[100 + g] = c + us; long l = a[8]; a[102 + g] = l >> 2; a[104 + g] = a[9] / (g + 1);
  switch (a[10]) { case 1: a[106 + g] = 1; break; case -7: a[108 + 2 * g] = 2; }
  for (int i = 0; i < 2; i++) { int t = i * g; a[120 + 2 * g + i] = t; }
}
"""


@pytest.mark.device
def test_both_ways_leave_the_same(tmp_path: Path) -> None:
    """What is left of a kernel by way of SPIR-V and of LLVM is the same: kinds, places, modes and numbers."""
    if tools() is None:
        absent("clang and its translator to SPIR-V")

    def of(code: KernelProgram) -> list[tuple[object, ...]]:
        return [
            (type(ins).__name__, ins.mode, [access[1:3] for access in residual.accesses], _number(ins))
            for thread in code.code
            for residual in thread
            if isinstance(ins := residual.instruction, Load | Store | Rmw | Barrier | Fence)
        ]

    one, other = (program(tmp_path, ALIKE, as_spirv=as_spirv) for as_spirv in (True, False))
    assert of(one) == of(other)


def _number(ins: object) -> object:
    return ins.value if isinstance(ins, Store) and isinstance(ins.value, int) else None


def test_names_of_functions_are_demangled() -> None:
    assert plain_name("_Z13get_global_idj") == ("get_global_id", ("j",))
    name = "_Z21atomic_store_explicitPU3AS4VU7_Atomicii12memory_order12memory_scope"
    assert plain_name(name) == ("atomic_store_explicit", ("PU3AS4VU7_Atomici", "i", "12", "12"))
    assert plain_name("_Z3minDv4_fS_") == ("min", ("Dv4_f", "S_"))
    assert plain_name("_Z6vload4mPU3AS4KDh") == ("vload4", ("m", "PU3AS4KD"))
    assert plain_name("printf") == ("printf", ())
