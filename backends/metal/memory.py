"""Renders memory tests in the Metal Shading Language. It has relaxed atomics, sequentially consistent fences, and
barriers of a threadgroup.

- Atomics are relaxed (Metal Shading Language Specification, Memory Order), in device memory for the device, in that of
  a threadgroup for the threadgroup. A test's scope is said where it includes the same threads.
- ``atomic_thread_fence`` (version 3.2) is sequentially consistent, for a threadgroup or the device; it and
  ``threadgroup_barrier`` order device memory and the threadgroup's, or the one that a tag names.
- There is no strong compare-exchange. One is a weak one that is tried again where it failed for no reason; its failures
  are relaxed reads, of which the test has one.
- Weak accesses are volatile, as in OpenCL and C++ (``backends.shared.c_atomics``).

Gap: version 4.1 has atomics and fences that acquire and release. They are refused, for nothing here has been compiled
by Apple's compiler yet.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from string import Template
from typing import ClassVar

from backends.metal.progress import HOST
from backends.shared.c_atomics import SpacedAtomics
from backends.shared.kernel import MemoryWord, indented
from corpus.laws.opencl import FENCED, FETCHED
from corpus.litmus.test import Fence, Load, Order, Region, Rmw, Scope, Store

_SCOPES: Mapping[Region, Mapping[Scope, str]] = {
    Region.GLOBAL: {Scope.GPU: ""},
    Region.SHARED: {Scope.CTA: ""},
}
"""The scopes of atomics by where they are; no word says them."""
_FENCES = {Scope.GPU: "thread_scope_device", Scope.CTA: "thread_scope_threadgroup"}
_FLAGS = {Region.GLOBAL: "mem_flags::mem_device", Region.SHARED: "mem_flags::mem_threadgroup"}
_ATOMIC = "(volatile device atomic_uint*)&{cell}"

_FILE = Template("""\
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
""")


class MetalKernel(SpacedAtomics):
    """A memory test as ``NAME.metal``, run as ``python run_metal.py NAME.metal [iterations]``."""

    title: ClassVar[str] = "Metal"
    group: ClassVar[str] = "group_id"
    item: ClassVar[str] = "item_id"
    meet: ClassVar[str] = "threadgroup_barrier(mem_flags::mem_threadgroup)"
    add: ClassVar[str] = f"atomic_fetch_add_explicit({_ATOMIC}, {{value}}, memory_order_relaxed)"
    claim: ClassVar[str] = f"claim({_ATOMIC}, {{value}})"
    peek: ClassVar[str] = f"atomic_load_explicit({_ATOMIC}, memory_order_relaxed)"
    scratch_load: ClassVar[str] = "{cell}"
    scratch_store: ClassVar[str] = "{cell} = {value}"
    spaces: ClassVar[Mapping[Region, str]] = {Region.GLOBAL: "device", Region.SHARED: "threadgroup"}
    flags: ClassVar[Mapping[str, str]] = {tag: _FLAGS[region] for tag, region in FENCED.items()}
    barrier_call: ClassVar[str] = "threadgroup_barrier({})"
    group_word: ClassVar[str] = "threadgroup"
    fetched: ClassVar[Sequence[str]] = FETCHED
    companions: ClassVar[Mapping[str, str]] = HOST

    def load(self, thread: int, ins: Load, target: str, cell: MemoryWord) -> str:  # noqa: D102
        self._check(thread, ins, cell)
        return super().load(thread, ins, target, cell)

    def store(self, thread: int, ins: Store, cell: MemoryWord, value: str) -> str:  # noqa: D102
        self._check(thread, ins, cell)
        return super().store(thread, ins, cell, value)

    def rmw(self, thread: int, ins: Rmw, target: str | None, cell: MemoryWord, values: Sequence[str]) -> str:  # noqa: D102
        self._check(thread, ins, cell)
        if ins.operation != "cas" or ins.success is not None:
            return super().rmw(thread, ins, target, cell, values)
        orders = ["memory_order_relaxed"] * 2
        tried = self.call("compare_exchange_weak", cell, [self.expected(), values[1], *orders])
        kept = "" if target is None else f" {target} = expected;"
        start = f"uint expected = {values[0]}; const uint wanted = expected;"
        return f"{{ {start} while (!{tried}) {{ if (expected != wanted) {{ break; }} }}{kept} }}"

    def scoped(self, thread: int, ins: Load | Store | Rmw | Fence) -> list[str]:  # noqa: D102
        return []

    def fence_call(self, thread: int, ins: Fence, order: str) -> str:  # noqa: D102
        if ins.mode.order is not Order.SC:
            raise self.refuse(thread, ins, "has fences that are sequentially consistent, and no others before 4.1")
        flags = self.ordered(thread, ins)
        return f"atomic_thread_fence({flags}, {order}, {self.scope(thread, ins, _FENCES)});"

    def file(self, name: str) -> str:  # noqa: D102
        return _FILE.substitute(
            name=name,
            test=self.comment("// "),
            constants=self.constants(),
            reset=indented(self.reset()),
            run=indented(self.run()),
            count=indented(self.count()),
        )

    def _check(self, thread: int, ins: Load | Store | Rmw, cell: MemoryWord) -> None:
        """Raise ``InputError`` for an order or a scope that no atomic here has."""
        if not self._is_atomic(thread, ins, ins.mode):
            return
        if ins.mode.order is not Order.RELAXED:
            raise self.refuse(thread, ins, "has atomics that are relaxed, and no others before 4.1")
        if isinstance(ins, Rmw) and ins.failure not in (None, Order.RELAXED):
            raise self.refuse(thread, ins, "has atomics that are relaxed, and no others before 4.1")
        self.scope(thread, ins, _SCOPES[cell.region])
