"""Renders memory tests in CUDA C++ with the atomics of libcu++, and in C with those of clang's builtins for NVPTX.

These are tests of C11's memory model with scopes, to be compiled and read: what a compiler makes of
``cuda::atomic_ref`` is PTX (``backends.shared.read_kernels``). Nothing of them is run; programs that run are those of
``backends.cuda.memory``, which say their PTX themselves. A weak access is plain here, not volatile, so that a compiler
may do with it what the language allows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from backends.shared.atomics import CAtomics
from backends.shared.kernel import MemoryWord, indented
from backends.shared.syntax import LanguageSyntax
from corpus.laws.c11 import CONSUME
from corpus.litmus.instructions import Barrier, Fence
from corpus.litmus.orders import Scope


class CudaAtomics(CAtomics):
    """A test in a C for GPUs of NVIDIA: one kernel, ``run``. ``synchronise`` is the barrier of a work-group."""

    signed = "(int)({})"
    unsigned = "(unsigned)({})"
    tags = (CONSUME,)
    synchronise: ClassVar[str]

    def parts(self) -> Mapping[str, object]:  # noqa: D102
        return {"run": indented(self.run())}

    def ordered(self, thread: int, ins: Fence | Barrier) -> str:  # noqa: D102
        self.check_tags(thread, ins, self.tags)
        return ""

    def barrier(self, barriers: Mapping[int, Barrier]) -> str:  # noqa: D102
        for thread, ins in barriers.items():
            self.check_barrier(thread, ins, (None, Scope.CTA))
            self.ordered(thread, ins)
        return f"{self.synchronise};"


class LibcudacxxKernel(CudaAtomics):
    """A test in CUDA C++ with ``cuda::atomic_ref``."""

    title = "CUDA C++"
    syntax = LanguageSyntax("std::uint32_t")
    group = "blockIdx.x"
    item = "threadIdx.x"
    order_prefix = "cuda::std::"
    expected = "expected"
    synchronise = "__syncthreads()"
    scopes: ClassVar = {
        Scope.SYS: "cuda::thread_scope_system",
        Scope.GPU: "cuda::thread_scope_device",
        Scope.CTA: "cuda::thread_scope_block",
    }
    fenced = "cuda::atomic_thread_fence({order}, {scope})"
    text = """\
// $name, to be compiled and read.
$test
#include <cuda/atomic>
#include <cstdint>
$constants

extern "C" __global__ void run(std::uint32_t* const memory, std::uint32_t* const results, const std::uint32_t seed) {
    __shared__ std::uint32_t local_memory[SHARED_WORDS];
$run
}
"""

    def call(self, function: str, cell: MemoryWord, arguments: Sequence[str]) -> str:  # noqa: D102
        *others, scope = arguments
        return f"cuda::atomic_ref<std::uint32_t, {scope}>({cell.text}).{self.functions[function]}({', '.join(others)})"


class ClangNvptxKernel(CudaAtomics):
    """A test in C with clang's builtins for atomics with scopes, for NVPTX."""

    title = "C for NVPTX"
    syntax = LanguageSyntax("unsigned")
    group = "__nvvm_read_ptx_sreg_ctaid_x()"
    item = "__nvvm_read_ptx_sreg_tid_x()"
    synchronise = "__syncthreads()"
    pointer = "&{}"
    functions: ClassVar[Mapping[str, str]] = {
        "load": "__scoped_atomic_load_n",
        "store": "__scoped_atomic_store_n",
        "exch": "__scoped_atomic_exchange_n",
        **dict.fromkeys(("cas", "weak cas"), "__scoped_atomic_compare_exchange_n"),
        **{name: f"__scoped_atomic_fetch_{name}" for name in ("add", "sub", "and", "or", "xor")},
    }
    lacks: ClassVar[Mapping[str, str]] = dict.fromkeys(
        ("min", "max"), "compares unsigned numbers here, and these are signed"
    )
    scopes: ClassVar = {
        Scope.SYS: "__MEMORY_SCOPE_SYSTEM",
        Scope.GPU: "__MEMORY_SCOPE_DEVICE",
        Scope.CTA: "__MEMORY_SCOPE_WRKGRP",
    }
    fenced = "__atomic_thread_fence({order})"
    text = """\
// $name, to be compiled and read.
$test
#define memory_order_relaxed __ATOMIC_RELAXED
#define memory_order_consume __ATOMIC_CONSUME
#define memory_order_acquire __ATOMIC_ACQUIRE
#define memory_order_release __ATOMIC_RELEASE
#define memory_order_acq_rel __ATOMIC_ACQ_REL
#define memory_order_seq_cst __ATOMIC_SEQ_CST
$constants

static unsigned local_memory[SHARED_WORDS] __attribute__((address_space(3)));

__attribute__((nvptx_kernel)) void run(unsigned* const memory, unsigned* const results, const unsigned seed) {
$run
}
"""

    def call(self, function: str, cell: MemoryWord, arguments: Sequence[str]) -> str:  # noqa: D102
        if function in ("cas", "weak cas"):
            expected, new, *others = arguments
            arguments = [expected, new, "0" if function == "cas" else "1", *others]
        return super().call(function, cell, arguments)
