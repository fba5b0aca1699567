"""Renders memory tests in the Metal Shading Language. It has relaxed atomics, sequentially consistent fences, and
barriers of a threadgroup.

- Atomics are relaxed (Metal Shading Language Specification, Memory Order), in device memory for the device, in that of
  a threadgroup for the threadgroup. A test's scope is said where it includes the same threads.
- ``atomic_thread_fence`` (version 3.2) is sequentially consistent, for a threadgroup or the device; it and
  ``threadgroup_barrier`` order device memory and the threadgroup's, or the one that a tag names.
- There is no strong compare-exchange. One is a weak one that is tried again where it failed for no reason; its failures
  are relaxed reads, of which the test has one.
- Weak accesses are volatile, as in OpenCL and C++ (``backends.shared.atomics``).

Gap: version 4.1 has atomics and fences that acquire and release. They are refused, for nothing here has been compiled
by Apple's compiler yet.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from backends.shared.atomics import Access, SpacedAtomics
from backends.shared.kernel import MemoryWord
from corpus.laws.opencl import FENCED
from corpus.litmus.instructions import Fence, Rmw
from corpus.litmus.locations import Region
from corpus.litmus.orders import Order, Scope

_REACH: Mapping[Region, Mapping[Scope, str]] = {Region.GLOBAL: {Scope.GPU: ""}, Region.SHARED: {Scope.CTA: ""}}
"""The scopes of atomics by where they are; fences alone have words for them."""
_FLAGS = {Region.GLOBAL: "mem_flags::mem_device", Region.SHARED: "mem_flags::mem_threadgroup"}
_ATOMIC = "(volatile device atomic_uint*)&{cell}"


class MetalKernel(SpacedAtomics):
    """A memory test as ``NAME.metal``, run as ``python run_metal.py NAME.metal [iterations]``."""

    title = "Metal"
    group = "group_id"
    item = "item_id"
    meet = "threadgroup_barrier(mem_flags::mem_threadgroup)"
    add = f"atomic_fetch_add_explicit({_ATOMIC}, {{value}}, memory_order_relaxed)"
    claim = f"claim({_ATOMIC}, {{value}})"
    peek = f"atomic_load_explicit({_ATOMIC}, memory_order_relaxed)"
    spaces: ClassVar = {Region.GLOBAL: "device", Region.SHARED: "threadgroup"}
    scopes: ClassVar = {Scope.GPU: "thread_scope_device", Scope.CTA: "thread_scope_threadgroup"}
    flags: ClassVar = {tag: _FLAGS[region] for tag, region in FENCED.items()}
    fenced = "atomic_thread_fence({flags}, {order}, {scope})"
    barriers = "threadgroup_barrier({})"
    group_word = "threadgroup"
    text = """\
// $name. Usage: python run_metal.py NAME.metal [iterations]
$test
#include <metal_stdlib>
using namespace metal;

$constants

static inline uint claim(volatile device atomic_uint* const row, const uint value) {
    uint old = 0u;
    while (!atomic_compare_exchange_weak_explicit(row, &old, value, memory_order_relaxed, memory_order_relaxed)) {
        if (old != 0u) { break; }
    }
    return old;
}

kernel void reset(volatile device uint* const memory [[buffer(0)]],
                  const uint index [[thread_position_in_grid]]) {
$reset
}

kernel void run(volatile device uint* const memory [[buffer(0)]], device uint* const results [[buffer(1)]],
                constant uint& seed [[buffer(3)]], const uint group_id [[threadgroup_position_in_grid]],
                const uint item_id [[thread_position_in_threadgroup]]) {
    threadgroup volatile uint local_memory[SHARED_WORDS];
$run
}

kernel void count(const volatile device uint* const memory [[buffer(0)]],
                  const device uint* const results [[buffer(1)]], volatile device uint* const histogram [[buffer(2)]],
                  const uint index [[thread_position_in_grid]]) {
$count
}
"""

    def exchange(self, thread: int, ins: Rmw, kept: str, cell: MemoryWord, values: Sequence[str]) -> str:  # noqa: D102
        if ins.success is not None:
            return super().exchange(thread, ins, kept, cell, values)
        orders = ["memory_order_relaxed"] * 2
        tried = self.call("weak cas", cell, [self.expected, values[1], *orders])
        result = f" {kept}expected;" if kept else ""
        start = f"uint expected = {values[0]}; const uint wanted = expected;"
        return f"{{ {start} while (!{tried}) {{ if (expected != wanted) {{ break; }} }}{result} }}"

    def fence(self, thread: int, ins: Fence) -> str:  # noqa: D102
        if ins.mode.order not in (Order.WEAK, Order.SC):
            raise self.refuse(thread, ins, "has fences that are sequentially consistent, and no others before 4.1")
        if ins.mode.order is Order.SC:
            self.check_tags(thread, ins, self.flags)
        return super().fence(thread, ins)

    def scoped(self, thread: int, ins: Access) -> list[str]:  # noqa: D102
        return []

    def is_atomic(self, thread: int, ins: Access, cell: MemoryWord) -> bool:
        """Return whether an access is atomic, as in C, and then relaxed, at the only scope that there is for its
        memory.
        """
        if not super().is_atomic(thread, ins, cell):
            return False
        if {ins.mode.order, ins.failure if isinstance(ins, Rmw) else None} - {Order.RELAXED, None}:
            raise self.refuse(thread, ins, "has atomics that are relaxed, and no others before 4.1")
        self.scope(thread, ins, _REACH[cell.region])
        return True
