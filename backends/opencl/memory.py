"""Renders memory tests in OpenCL C, by atomics with order and scope.

These atomics are core in 2.0 and features in 3.0 (PoCL has them all but one scope).

- Scopes: ``memory_scope_work_group`` for CTA, ``memory_scope_device`` for GPU. ``memory_scope_all_svm_devices`` needs
  fine-grained shared virtual memory; as a launch runs on one device, scope sys includes the threads that scope gpu
  does, and is written as ``memory_scope_device``. Sub-groups have no portable size, and are not used.
- A fence or barrier orders global and local memory, or the one that its tag names.
- A barrier is met by the whole work-group (``backends.shared.atomics``).

``add``, ``claim`` and ``peek`` are OpenCL 1.x's atomics, which every version has.
"""

from __future__ import annotations

from typing import ClassVar

from backends.shared.atomics import SpacedAtomics
from corpus.laws.opencl import MEMORY, SCOPE_WORDS
from corpus.litmus.locations import Region
from corpus.litmus.orders import Scope


class OpenClKernel(SpacedAtomics):
    """A memory test as ``NAME.cl``, run as ``python run_opencl.py NAME.cl [iterations]``."""

    title = "OpenCL"
    group = "(uint)get_group_id(0)"
    item = "(uint)get_local_id(0)"
    signed = "(int)({})"
    unsigned = "(uint)({})"
    meet = "barrier(CLK_LOCAL_MEM_FENCE)"
    add = "atomic_add(&{cell}, {value})"
    claim = "atomic_cmpxchg(&{cell}, 0u, {value})"
    peek = "atomic_add(&{cell}, 0u)"
    spaces: ClassVar = {Region.GLOBAL: "__global", Region.SHARED: "__local"}
    scopes: ClassVar = {scope: SCOPE_WORDS[scope] for scope in (Scope.GPU, Scope.CTA)}
    flags: ClassVar = {tag: word for word, tag in MEMORY.items()}
    fenced = "atomic_work_item_fence({flags}, {order}, {scope})"
    barriers = "barrier({})"
    text = """\
// $name. Usage: python run_opencl.py NAME.cl [iterations]
$test
$constants

__kernel void reset(volatile __global uint* const memory) {
    const uint index = (uint)get_global_id(0);
$reset
}

__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
void run(volatile __global uint* const memory, __global uint* const results, const uint seed) {
    __local volatile uint local_memory[SHARED_WORDS];
$run
}

__kernel void count(const __global uint* const memory, const __global uint* const results,
                    volatile __global uint* const histogram) {
    const uint index = (uint)get_global_id(0);
$count
}
"""
