"""The generated text of memory tests in OpenCL C and C++; ``pytest --promote`` accepts a change."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from program_parts import PARTS

from backends.registry import BACKENDS
from backends.shared.layout import Parameters, place
from corpus.dialects.registry import parse_litmus

SB = """C SB
{ x = 0; y = 0; }
P0 (atomic_int* x, atomic_int* y) {
  atomic_store_explicit(x, 1, memory_order_relaxed);
  int r0 = atomic_load_explicit(y, memory_order_relaxed);
}
P1 (atomic_int* x, atomic_int* y) {
  atomic_store_explicit(y, 1, memory_order_seq_cst);
  atomic_thread_fence(memory_order_seq_cst);
  int r0 = atomic_load_explicit(x, memory_order_seq_cst);
}
exists (0:r0 = 0 /\\ 1:r0 = 0)
"""
UPDATES = """C updates
{ x = 5; y = 1; }
P0 (atomic_int* x, int* y) {
  int r0 = 5;
  atomic_compare_exchange_strong_explicit(x, &r0, 7, memory_order_acq_rel, memory_order_acquire);
  int r1 = atomic_exchange_explicit(x, 8, memory_order_relaxed);
  atomic_fetch_add_explicit(x, 2, memory_order_release);
  *y = r0;
}
P1 (atomic_int* x, int* y) {
  int r0 = *y;
  int r1 = r0 & 0x80000000;
  int r2 = atomic_load_explicit(x + r1, memory_order_relaxed);
  if (r2 > 7) {
    *y = r2 / 2;
  } else {
    do {
      r0 = r0 + 1;
    } while (r0 < 3);
  }
}
locations [y;]
filter (x != -4)
exists (x = 10 /\\ (1:r2 = 8 \\/ ~(0:r0 = 5)))
"""
SHARED = """OPENCL shared
{ x = 3; y = 0; }
P0@wg 0, dev 0 (local int* x, global atomic_int* y) {
  *x = 1;
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_store_explicit(y, 1, memory_order_release, memory_scope_all_svm_devices);
}
P1@wg 0, dev 0 (local int* x, global atomic_int* y) {
  int r0 = atomic_load_explicit(y, memory_order_acquire, memory_scope_device);
  atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_work_group);
  barrier(CLK_LOCAL_MEM_FENCE);
  int r1 = *x;
}
P2@wg 1, dev 0 (global atomic_int* y) {
  int r0 = atomic_fetch_max_explicit(y, -2, memory_order_relaxed, memory_scope_device);
}
exists (x = 1 /\\ 1:r0 = 0 /\\ 1:r1 = 1 /\\ 2:r0 = 1)
"""


@pytest.mark.parametrize(
    ("name", "text", "backend", "parameters"),
    [
        ("sb", SB, "cpp", Parameters(instances=256, slots=64, stride=16, spin=1000)),
        ("sb", SB, "opencl", Parameters(instances=256, passes=4, spin=1000, shuffle=False, stress=1)),
        ("updates", UPDATES, "cpp", Parameters(instances=64, stress=2)),
        ("updates", UPDATES, "opencl", Parameters(instances=64, interleaved=False)),
        ("shared", SHARED, "opencl", Parameters(instances=64)),
    ],
)
def test_text(name: str, text: str, backend: str, parameters: Parameters, golden: Callable[..., None]) -> None:
    file, written = next(iter(BACKENDS[backend].memory_files(name, place(parse_litmus(text), parameters)).items()))
    golden(f"memory/{file}", written, PARTS)
