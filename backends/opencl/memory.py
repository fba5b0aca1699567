"""Renders memory tests in OpenCL C, by atomics with order and scope.

These atomics are core in 2.0 and features in 3.0 (PoCL has them all but one scope).

- Scopes: ``memory_scope_work_group`` for CTA, ``memory_scope_device`` for GPU. ``memory_scope_all_svm_devices`` needs
  fine-grained shared virtual memory; as a launch runs on one device, scope sys includes the threads that scope gpu
  does, and is written as ``memory_scope_device``. Sub-groups have no portable size, and are not used.
- A fence or barrier orders global and local memory, or the one that its tag names.
- A barrier is met by the whole work-group (``backends.shared.c_atomics``).

``add``, ``claim`` and ``peek`` are OpenCL 1.x's atomics, which every version has.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from string import Template
from typing import ClassVar

from backends.shared.c_atomics import SpacedAtomics
from backends.shared.files import shipped
from backends.shared.kernel import indented
from corpus.laws.opencl import FETCHED, MEMORY, SCOPE_WORDS
from corpus.litmus.test import Fence, Load, Region, Rmw, Scope, Store

_SCOPES = {scope: SCOPE_WORDS[scope] for scope in (Scope.GPU, Scope.CTA)}

_FILE = Template("""\
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
""")


class OpenClKernel(SpacedAtomics):
    """A memory test as ``NAME.cl``, run as ``python run_opencl.py NAME.cl [iterations]``."""

    title: ClassVar[str] = "OpenCL"
    group: ClassVar[str] = "(uint)get_group_id(0)"
    item: ClassVar[str] = "(uint)get_local_id(0)"
    signed: ClassVar[str] = "(int)({})"
    unsigned: ClassVar[str] = "(uint)({})"
    meet: ClassVar[str] = "barrier(CLK_LOCAL_MEM_FENCE)"
    add: ClassVar[str] = "atomic_add(&{cell}, {value})"
    claim: ClassVar[str] = "atomic_cmpxchg(&{cell}, 0u, {value})"
    peek: ClassVar[str] = "atomic_add(&{cell}, 0u)"
    scratch_load: ClassVar[str] = "{cell}"
    scratch_store: ClassVar[str] = "{cell} = {value}"
    spaces: ClassVar[Mapping[Region, str]] = {Region.GLOBAL: "__global", Region.SHARED: "__local"}
    flags: ClassVar[Mapping[str, str]] = {tag: word for word, tag in MEMORY.items()}
    barrier_call: ClassVar[str] = "barrier({})"
    fetched: ClassVar[Sequence[str]] = FETCHED
    companions: ClassVar[Mapping[str, str]] = {"run_opencl.py": shipped("backends.opencl", "host.py")}

    def scoped(self, thread: int, ins: Load | Store | Rmw | Fence) -> list[str]:  # noqa: D102
        return [self.scope(thread, ins, _SCOPES)]

    def fence_call(self, thread: int, ins: Fence, order: str) -> str:  # noqa: D102
        scope = self.scope(thread, ins, _SCOPES)
        return f"atomic_work_item_fence({self.ordered(thread, ins)}, {order}, {scope});"

    def file(self, name: str) -> str:  # noqa: D102
        return _FILE.substitute(
            name=name,
            test=self.comment("// "),
            constants=self.constants(),
            reset=indented(self.reset()),
            run=indented(self.run()),
            count=indented(self.count()),
        )
