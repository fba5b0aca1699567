"""Renders progress tests in the Metal Shading Language. All files of a folder share one Python host,
``run_metal.py``.

MSL's atomics are relaxed (Metal Shading Language Specification, Atomic Functions; acquire and release come with version
4.1). From 3.2 on it has fences: a relaxed exchange between two that are sequentially consistent acquires and releases,
so that every execution is an interleaving (``backends.shared.renderer``). Before 3.2 the exchange is relaxed alone, and
between two locations memory may reorder, as in WGSL.

Nothing here has been compiled by Apple's compiler or run: that takes a Mac.
"""

from __future__ import annotations

from backends.shared.renderer import Renderer


class Metal(Renderer):
    """A progress test as ``NAME.metal``, run as ``python run_metal.py NAME.metal [iterations]``."""

    exchange = "exchange_at(&(cell), value)"
    add = "add_at(&(cell), value)"
    read = "atomic_load_explicit(&WARM_UP, memory_order_relaxed)"
    header = """\
kernel void test(device atomic_uint* const memory [[buffer(0)]],
                 const uint group_id [[threadgroup_position_in_grid]],
                 const uint item_id [[thread_position_in_threadgroup]])"""
    group = "group_id"
    item = "item_id"
    file = """\
// $name, mapping $mapping. Usage: python run_metal.py NAME.metal; a test that hangs does not come back.
$pseudo_code
#include <metal_stdlib>
using namespace metal;

#if __METAL_VERSION__ >= 320
#define FENCE() atomic_thread_fence(mem_flags::mem_device, memory_order_seq_cst, thread_scope_device)
#else
#define FENCE()
#endif

static inline uint exchange_at(device atomic_uint* const cell, const uint value) {
    FENCE();
    const uint old = atomic_exchange_explicit(cell, value, memory_order_relaxed);
    FENCE();
    return old;
}

static inline uint add_at(device atomic_uint* const cell, const uint value) {
    FENCE();
    const uint old = atomic_fetch_add_explicit(cell, value, memory_order_relaxed);
    FENCE();
    return old;
}

#define thread thread_number // which is a word of the language, for memory of a thread's own

$constants

$kernel
"""
