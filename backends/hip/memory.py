"""Renders memory tests in HIP, by clang's atomics with order and scope and its fences for AMD's GPUs.

- Atomics are ``__hip_atomic_load`` and the like, fences ``__builtin_amdgcn_fence``. Scopes: wavefront for warp,
  workgroup for CTA, agent for GPU, system for sys. A launch is on one device.
- A fence or a barrier of one memory alone is a fence with the name of the address space, which clang has from 19 on;
  the program then says that it needs it.
- A barrier is ``s_barrier`` between a release fence and an acquire fence of the work-group, which is what
  ``__syncthreads`` is; or ``s_barrier`` alone, where a test of Vulkan's dialect has a barrier that orders nothing.
- Tests of Vulkan's dialect are said as far as LLVM's words for AMD's GPUs mean the same (``backends.hip.words``).

**Weak accesses are plain** here, and not volatile as in the other languages of C: LLVM does a volatile access at system
scope and waits for it (AMDGPUUsage, Memory Model), so it would not be the weak access of the test. That a compiler
neither merges, moves nor drops plain accesses is seen to by the marks between them.

**Marks.** Each instruction of the test is between two empty pieces of inline assembly, ``; begin P0:1`` and ``; end
P0:1``, over which clang moves no access to memory. They leave no trace in machine code, but stand as comments in the
assembly that ``clang -S`` prints. So it is known what each instruction became (``corpus.code.amdgcn.reader``). An
operand that would let LLVM make a load of an atomic operation, an addition of 0, is hidden in a register. The loop over
the instances of a thread is not unrolled, so each instruction is in the machine code once.

Gap: dependencies through values that clang can compute, as ``r ^ r``, are not in the machine code. AMD's model asks for
none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from backends.hip.progress import HIP_RUNTIME
from backends.hip.words import BARE, GLOBAL_ALONE, LOCAL_ALONE, in_llvm_words
from backends.shared.atomics import BUILTIN_ORDERS, Access, CAtomics
from backends.shared.kernel import MemoryWord
from backends.shared.layout import Layout, Parameters, gpu_parameters
from backends.shared.profiles import Profile
from backends.shared.runtime import RuntimeKernel
from corpus.code.amdgcn.text import begin, end
from corpus.litmus.instructions import Barrier, Fence, Instruction, Load, Rmw, Store
from corpus.litmus.orders import Mode, Order, Scope
from corpus.litmus.propositions import FinalRegister
from corpus.litmus.test import LitmusTest

WAVE = 64
"""Threads of a wavefront of the GPUs whose wavefronts are widest."""

SPACED = 19
"""The first clang whose fences may name an address space."""

_SPACES = {GLOBAL_ALONE: "global", LOCAL_ALONE: "local"}
_PASSES = "nth < PASSES"
"""What the head of the loop over instances has."""


_HELPERS = """\
// Between two marks is what an instruction of the test became; clang moves no access to memory over a mark.
#define MARK(place) asm volatile("; " place : : : "memory")

$constants

__device__ inline std::uint32_t claim(std::uint32_t* const row, const std::uint32_t value) {
    std::uint32_t old = 0u;
    __hip_atomic_compare_exchange_strong(row, &old, value, __ATOMIC_RELAXED, __ATOMIC_RELAXED,
                                         __HIP_MEMORY_SCOPE_AGENT);
    return old;
}

// A value that clang does not know.
__device__ inline std::uint32_t hidden(std::uint32_t value) {
    asm volatile("" : "+v"(value));
    return value;
}

"""
_RUN = """\
    [[maybe_unused]] __shared__ std::uint32_t local_memory[SHARED_WORDS];
$run"""


class HipKernel(RuntimeKernel, CAtomics):
    """A memory test as ``NAME.hip``: compile with ``hipcc -O2``; run as ``NAME [iterations]``."""

    title = "HIP"
    add = "__hip_atomic_fetch_add(&{cell}, {value}, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)"
    claim = "claim(&{cell}, {value})"
    peek = "__hip_atomic_load(&{cell}, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)"
    functions: ClassVar = {**CAtomics.functions, "sub": "fetch_add", "min": "fetch_min", "max": "fetch_max"}
    scopes: ClassVar = {
        Scope.WARP: '"wavefront"',
        Scope.CTA: '"workgroup"',
        Scope.GPU: '"agent"',
        Scope.SYS: '""',
    }
    fenced = "__builtin_amdgcn_fence({order}, {scope}{flags})"
    group_word = "work-group"
    text = HIP_RUNTIME.memory_file(_HELPERS, _RUN)

    def __init__(self, layout: Layout) -> None:
        # Equal instructions are different ones, and have different marks: make them different objects.
        test = in_llvm_words(layout.test)
        threads = tuple(
            replace(thread, instructions=tuple(map(replace, thread.instructions))) for thread in test.threads
        )
        super().__init__(replace(layout, test=replace(test, threads=threads)))
        self._places = {
            id(ins): (thread, place)
            for thread, code in enumerate(self.test.threads)
            for place, ins in enumerate(code.instructions)
        }

    def load(self, thread: int, ins: Load, target: str, cell: MemoryWord) -> str:  # noqa: D102
        return self._marked(ins, super().load(thread, ins, target, cell))

    def store(self, thread: int, ins: Store, cell: MemoryWord, value: str) -> str:  # noqa: D102
        return self._marked(ins, super().store(thread, ins, cell, value))

    def rmw(self, thread: int, ins: Rmw, target: str | None, cell: MemoryWord, values: Sequence[str]) -> str:  # noqa: D102
        if ins.operation not in ("exch", "cas"):
            values = [f"hidden({'0u - ' if ins.operation == 'sub' else ''}{values[0]})"]
        return self._marked(ins, super().rmw(thread, ins, target, cell, values))

    def call(self, function: str, cell: MemoryWord, arguments: Sequence[str]) -> str:  # noqa: D102
        pointer = f"&{cell.text}" if function not in ("min", "max") else f"(std::int32_t*)&{cell.text}"
        return f"__hip_atomic_{self.functions[function]}({', '.join([pointer, *arguments])})"

    def order(self, mode: Mode) -> str:  # noqa: D102
        return BUILTIN_ORDERS[mode.order]

    def scoped(self, thread: int, ins: Access) -> list[str]:
        """Return the argument for the scope of an atomic access, whose words are other ones than those of fences."""
        words = (word.strip('"') or "system" for word in super().scoped(thread, ins))
        return [f"__HIP_MEMORY_SCOPE_{word.upper()}" for word in words]

    def fence(self, thread: int, ins: Fence) -> str:  # noqa: D102
        self.check_words(thread, ins, _SPACES)
        if ins.mode.order is Order.RELAXED:
            raise self.refuse(thread, ins, "has no such fence")
        return self._marked(ins, super().fence(thread, ins))

    def barrier(self, barriers: Mapping[int, Barrier]) -> str:  # noqa: D102
        modes = set()
        for thread, ins in barriers.items():
            self.check_barrier(thread, ins, (None, Scope.CTA))
            self.check_tags(thread, ins, (*_SPACES, BARE))
            modes.add(ins.mode.tags)
        if len(modes) > 1:
            raise self.differing(thread, ins)
        group, flags = self.scopes[Scope.CTA], "" if BARE in ins.mode.tags else self.ordered(thread, ins)
        orders = () if BARE in ins.mode.tags else (Order.RELEASE, Order.ACQUIRE)
        fences = [f"{self.fenced.format(order=BUILTIN_ORDERS[order], scope=group, flags=flags)};" for order in orders]
        met = " ".join([*fences[:1], "__builtin_amdgcn_s_barrier();", *fences[1:]])
        places = [self._places[id(ins)] for ins in barriers.values()]
        return " ".join([f'MARK("{begin(places)}");', met, f'MARK("{end(places)}");'])

    def ordered(self, thread: int, ins: Fence | Barrier) -> str:  # noqa: D102
        return "".join(f', "{_SPACES[tag]}"' for tag in ins.mode.tags)

    def kept(self, thread: int) -> list[str]:
        """Keep the registers that make the outcome, and have clang believe that the others are used."""
        observed = {
            term.register for term in self.layout.terms if isinstance(term, FinalRegister) and term.thread == thread
        }
        others = sorted(self._names[thread].keys() - observed)
        return [
            *super().kept(thread),
            *(f'asm volatile("" : : "v"({self.register(thread, name)}));' for name in others),
        ]

    def run(self) -> list[str]:
        """Return the body of ``run``, whose loop over instances is not unrolled. clang is told that others may look
        into shared memory, or it drops stores to what is never read.
        """
        body = [text for line in super().run() for text in (["#pragma unroll 1", line] if _PASSES in line else [line])]
        seen = ['asm volatile("" : : "v"(&local_memory[0]) : "memory");'] if self.layout.shareds else []
        return [*seen, *body]

    def parts(self) -> Mapping[str, object]:  # noqa: D102
        needs = f"// Needs clang {SPACED} or later.\n" if self._is_spaced() else ""
        return {**super().parts(), "needs": needs}

    def _is_spaced(self) -> bool:
        code = self.test.instructions
        return any(isinstance(ins, Fence | Barrier) and not _SPACES.keys().isdisjoint(ins.mode.tags) for ins in code)

    def _marked(self, ins: Instruction, text: str) -> str:
        places = [self._places[id(ins)]]
        return f'MARK("{begin(places)}"); {text} MARK("{end(places)}");'


def hip_parameters(test: LitmusTest, instances: int, profile: Profile, iterations: int = 20) -> Parameters:
    """Return the parameters for a device with wavefronts of up to 64 threads: as many slots, so that threads of
    different warps of the test are in different wavefronts.

    Raises ``InputError`` where the scope tree is not within one launch.
    """
    found = gpu_parameters(test, instances, profile, iterations)
    return replace(found, slots=max(found.slots, WAVE))
