"""Renders memory tests in CUDA. Every access and fence of a test is one instruction of inline PTX, word for word.

Weak accesses, cache operators, ``volatile``, orders and scopes are PTX's own, so a test in one of its dialects is run
as it is written; ``membar.gl`` is ``fence.sc.gpu``, its newer name. The code is for sm_75 and later, or, as it
then says, for sm_90: ``fence.acquire``, ``fence.release`` and the scope of a cluster need that. CTAs are launched as
clusters of their own. Fences of proxies are refused, for there are no accesses through any. Accesses name their state
space; an address in shared memory has 32 bits.
Addresses are counted in bytes, so that a test that adds ``r & 0x80000000`` to one (Alglave et al. 2015, section 4.5)
does so in the machine code: scaled by 4, that bit would be shifted out of 32.

**Made for optcheck** (``backends.cuda.optcheck``, which says why). The code of each thread, up to each of its
barriers, is a function ``thread_N_K`` that is not inlined and does nothing else: it takes the thread's registers and
returns them. To the address of access k it adds ``zero[k]``, a word of constant memory that is always 0; the compiler
cannot know that, so it can neither merge two accesses of one location nor drop a store that the next one overwrites.
Nor does ptxas keep the order of two accesses of which one is weak. Between them stands ``keep_order()``, an ``exit``
that is never taken: one predicated instruction, across which ptxas was not seen to move an access. And a weak load
whose register nobody asks for is dead: so ``run`` stores such registers where ``zero`` is not 0, which is never.

Each thread of a CTA waits at a barrier for the instances of all of them, with ``barrier.sync`` or, where the test says
``bar.arrive``, without waiting. Gap: threads that the layout adds to fill work-groups take no part in barriers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import ClassVar

from backends.cuda.compiler import HOPPER
from backends.cuda.optcheck import numbered
from backends.cuda.progress import ABOUT
from backends.shared.kernel import Kernel, MemoryWord
from backends.shared.layout import Layout
from backends.shared.main import COUNTS, SAYS
from backends.shared.syntax import LanguageSyntax
from corpus.laws import ptx
from corpus.litmus.describe import cannot_say
from corpus.litmus.test import (
    CLUSTER,
    Barrier,
    Fence,
    FinalRegister,
    Instruction,
    Load,
    Order,
    Region,
    Rmw,
    Scope,
    Store,
)

_TYPES = {"add": "u32", "min": "s32", "max": "s32"}
"""The PTX types of atomic operations; operations that are not listed have b32."""
_POINTERS = {Region.GLOBAL: "l", Region.SHARED: "r"}
"""The constraints of addresses: 64 bits, 32 bits."""


class CudaKernel(Kernel):
    """A memory test as ``NAME.cu``: compile with ``nvcc -O2 -arch=sm_75`` or newer; run as ``NAME [iterations]``."""

    title = "CUDA"
    syntax = LanguageSyntax("std::uint32_t")
    group = "blockIdx.x"
    item = "threadIdx.x"
    signed = "std::int32_t({})"
    unsigned = "std::uint32_t({})"
    unused = "[[maybe_unused]] "
    arrays: ClassVar[Mapping[Region, str]] = {Region.GLOBAL: "globals", Region.SHARED: "shareds"}
    meet = "__syncthreads()"
    add = "atomicAdd(&{cell}, {value})"
    claim = "atomicCAS(&{cell}, 0u, {value})"
    peek = "atomicAdd(&{cell}, 0u)"
    scratch_load = "*(volatile std::uint32_t*)&{cell}"
    scratch_store = "*(volatile std::uint32_t*)&{cell} = {value}"
    text = (
        """\
// $name. Usage: NAME [iterations]; each prints its outcomes as the other languages' programs do.
$needs$test
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>
#include <cuda_runtime.h>

$constants

// Always 0, but only the host knows: the marks of accesses, and the question whether to go on.
__constant__ std::uint32_t zero[$marks + 1];

__device__ inline void keep_order() {
    asm volatile("{ .reg .pred never; setp.ne.u32 never, %0, 0; @never exit; }" : : "r"(zero[$marks]) : "memory");
}

// Memory as a thread of the test sees it: the address of a byte.
struct Globals {
    std::uint64_t base;
    __device__ std::uint64_t operator[](const std::uint32_t offset) const { return base + offset; }
};
struct Shareds {
    std::uint32_t base;
    __device__ std::uint32_t operator[](const std::uint32_t offset) const { return base + offset; }
};

$functions

__global__ void reset(std::uint32_t* const memory) {
    const std::uint32_t index = blockIdx.x * blockDim.x + threadIdx.x;
$reset
}

__global__ void run(std::uint32_t* const memory, std::uint32_t* const results, const std::uint32_t seed) {
    __shared__ std::uint32_t local_memory[SHARED_WORDS];
    const Globals globals{__cvta_generic_to_global(memory)};
    const Shareds shareds{std::uint32_t(__cvta_generic_to_shared(local_memory))};
$run
}

__global__ void count(const std::uint32_t* const memory, const std::uint32_t* const results,
                      std::uint32_t* const histogram) {
    const std::uint32_t index = blockIdx.x * blockDim.x + threadIdx.x;
$count
}

"""
        + f"{ABOUT}\n{SAYS}\n{COUNTS}"
        + """
static void check(const cudaError_t error, const char* const what) {
    if (error == cudaSuccess) return;
    if (error == cudaErrorLaunchTimeout) std::_Exit(124); // a display's watchdog: a hang
    char text[200];
    std::snprintf(text, sizeof text, "%s: %.150s", what, cudaGetErrorString(error));
    fail(text, 2);
}

extern const char TRIAL[]; // the end of this file
int main(int argc, char** argv) {
    trial = TRIAL;
    const long iterations = asked = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 20;
    const std::uint32_t size = std::min(256u, INSTANCES);
    std::uint32_t *memory, *results, *table;
    check(cudaMalloc(&memory, sizeof(std::uint32_t) * WORDS), "cudaMalloc");
    check(cudaMalloc(&results, sizeof(std::uint32_t) * RESULT_WORDS), "cudaMalloc");
    check(cudaMalloc(&table, sizeof(std::uint32_t) * HISTOGRAM_WORDS), "cudaMalloc");
    std::vector<std::uint32_t> histogram(HISTOGRAM_WORDS);
    cudaFuncAttributes attributes; // loads the code, which is else done at the first launch
    for (const void* const kernel : {(const void*)reset, (const void*)run, (const void*)count})
        check(cudaFuncGetAttributes(&attributes, kernel), "kernel");
    const auto launch = [&](const std::uint32_t seed) {
        reset<<<INSTANCES / size, size>>>(memory);
        run<<<GROUPS, GROUP_SIZE>>>(memory, results, seed);
        check(cudaMemset(table, 0, sizeof(std::uint32_t) * HISTOGRAM_WORDS), "cudaMemset");
        count<<<INSTANCES / size, size>>>(memory, results, table);
        check(cudaGetLastError(), "launch");
        check(cudaMemcpy(histogram.data(), table, sizeof(std::uint32_t) * HISTOGRAM_WORDS, cudaMemcpyDeviceToHost),
              "kernel");
    };
    if (iterations > 0) launch($warm_up);
    begin();
    for (long iteration = 0; iteration < iterations; ++iteration) {
        launch(std::uint32_t(iteration));
        report(iteration, histogram.data(), HISTOGRAM_WORDS, ROW_WORDS);
    }
    finish();
    return 0;
}
"""
    )

    def __init__(self, layout: Layout) -> None:
        # Equal instructions are different accesses, and have different marks: make them different objects.
        threads = (
            replace(thread, instructions=tuple(map(replace, thread.instructions))) for thread in layout.test.threads
        )
        super().__init__(replace(layout, test=replace(layout.test, threads=tuple(threads))))
        self._marks = {
            id(self.test.threads[thread].instructions[place]): mark
            for (thread, place), mark in numbered(self.test).items()
        }

    def load(self, thread: int, ins: Load, target: str, cell: MemoryWord) -> str:  # noqa: D102
        words = self._words(thread, ins, ptx.LOAD, cell)
        return self._access(thread, ins, f"ld{words}.u32 %0, [%1];", f'"=r"({target})', cell)

    def store(self, thread: int, ins: Store, cell: MemoryWord, value: str) -> str:  # noqa: D102
        return self._access(
            thread, ins, f"st{self._words(thread, ins, ptx.STORE, cell)}.u32 [%0], %1;", "", cell, value
        )

    def rmw(self, thread: int, ins: Rmw, target: str | None, cell: MemoryWord, values: Sequence[str]) -> str:  # noqa: D102
        if ins.operation not in ptx.OPERATIONS:
            raise cannot_say(thread, ins, f"PTX has no atomic {ins.operation}")
        if ins.failure is not None:
            raise cannot_say(thread, ins, "PTX has one order for an exchange, whether or not it fails")
        words = f"{self._words(thread, ins, ptx.ATOM, cell)}.{ins.operation}.{_TYPES.get(ins.operation, 'b32')}"
        reduces = target is None and ins.operation in ptx.REDUCTIONS and ins.mode.order in ptx.RED_ORDERS
        first = 0 if target is None else 1
        places = ", ".join([f"[%{first}]", *(f"%{first + 1 + number}" for number in range(len(values)))])
        result = "" if reduces else "_, " if target is None else "%0, "
        outputs = "" if target is None else f'"=r"({target})'
        return self._access(
            thread, ins, f"{'red' if reduces else 'atom'}{words} {result}{places};", outputs, cell, *values
        )

    def fence(self, thread: int, ins: Fence) -> str:  # noqa: D102
        refuse = partial(cannot_say, thread, ins)
        if ins.mode.order is Order.WEAK:
            raise refuse("PTX has this fence only for accesses through proxies, which CUDA code here has not")
        # OpenCL's fence of global memory is any fence where there is no other memory.
        mode = (
            replace(ins.mode, tags=()) if ins.mode.tags == ("global-fence",) and not self.layout.shareds else ins.mode
        )
        return _asm(f"fence{ptx.mode_words(mode, ptx.FENCE, refuse)};", "", "")

    def barrier(self, barriers: Mapping[int, Barrier]) -> str:  # noqa: D102
        lines = []
        for thread, ins in barriers.items():
            if not isinstance(ins.name, int) or not 0 <= ins.name < 16:
                raise cannot_say(thread, ins, "PTX has barriers 0 to 15")
            if ins.scope is not Scope.CTA or ins.mode != type(ins.mode)():
                raise cannot_say(thread, ins, "PTX has barriers with nothing but a number of threads")
            if ins.quorum not in (None, len(barriers)):
                raise cannot_say(thread, ins, f"{len(barriers)} threads of its CTA come to it")
            name = "arrive" if ins.arrive else "sync"
            awaited = len(barriers) * self.layout.parameters.slots
            call = _asm(f"barrier.{name} {ins.name}, {awaited};", "", "")
            lines.append(f"if (position == {self.layout.positions[thread]}u) {call}")
        return " ".join(lines)

    def locations(self) -> list[str]:
        """Return the statements that say where each location of the instance is, in bytes."""
        return [line.replace(" = ", " = 4u * ", 1) for line in super().locations()]

    def registers(self, thread: int) -> list[str]:
        """Return the declaration of a thread's registers as one object, with their initial values."""
        initial = dict(self.test.threads[thread].registers)
        names = sorted(self.test.threads[thread].names)
        values = ", ".join(self.value(thread, initial.get(name, 0)) for name in names)
        return [f"Registers{thread} p{thread}{{{values}}};"]

    def register(self, thread: int, name: str) -> str:
        """Return the member of a struct that a register is, ``p0.reg_r1``."""
        return f"p{thread}.reg_{self._names[thread][name]}"

    def phases(self, thread: int) -> tuple[tuple[list[str], Barrier | None], ...]:
        """Return a call of the function of each phase, and a use of the registers that the condition does not
        ask for.
        """
        given = ", ".join([f"p{thread}", *self.arrays.values(), *(self.at(each.name) for each in self.test.locations)])
        asked = {
            term.register for term in self.layout.terms if isinstance(term, FinalRegister) and term.thread == thread
        }
        others = [self.register(thread, name) for name in sorted(self.test.threads[thread].names - asked)]
        used = [f"if (zero[{len(self._marks)}u] != 0u) results[0] = {' + '.join(others)};"] if others else []
        return tuple(
            ([f"p{thread} = thread_{thread}_{number}({given});", *(used if barrier is None else [])], barrier)
            for number, (_, barrier) in enumerate(super().phases(thread))
        )

    def functions(self) -> list[str]:
        """Return the registers of each thread, and a function for each of its phases."""
        lines = []
        addresses = [f"const {self.syntax.word} {self.at(each.name)}" for each in self.test.locations]
        for thread in range(len(self.test.threads)):
            own = f"Registers{thread}"
            fields = [f"{self.syntax.word} reg_{self._names[thread][name]};" for name in sorted(self._names[thread])]
            lines.append(f"struct {own} {{{''.join(f' {each}' for each in fields)} }};")
            given = ", ".join([f"{own} p{thread}", "const Globals globals", "const Shareds shareds", *addresses])
            for number, (code, _) in enumerate(super().phases(thread)):
                lines.append(f'extern "C" __device__ __noinline__ {own} thread_{thread}_{number}({given}) {{')
                lines += ["    " + line for line in [*code, f"return p{thread};"]]
                lines.append("}")
        return lines

    def parts(self) -> Mapping[str, object]:  # noqa: D102
        return {
            **super().parts(),
            "needs": f"// Needs sm_{HOPPER} or later.\n" if any(map(_is_new, self._instructions())) else "",
            "marks": len(self._marks),
            "functions": "\n".join(self.functions()),
        }

    def _instructions(self) -> list[Instruction]:
        return [ins for thread in self.test.threads for ins in thread.instructions]

    def _words(self, thread: int, ins: Load | Store | Rmw, rule: ptx.AccessRule, cell: MemoryWord) -> str:
        return ptx.mode_words(ins.mode, rule, partial(cannot_say, thread, ins), f".{cell.region}")

    def _access(
        self, thread: int, ins: Load | Store | Rmw, text: str, outputs: str, cell: MemoryWord, *values: str
    ) -> str:
        """An access to an address with its mark, and what keeps it behind the one before it, where ptxas would not."""
        address = f'"{_POINTERS[cell.region]}"({cell.text.removesuffix("]")} + zero[{self._marks[id(ins)]}u]])'
        access = _asm(text, outputs, ", ".join([address, *(f'"r"({value})' for value in values)]))
        code = self.test.threads[thread].instructions
        place = next(place for place, each in enumerate(code) if each is ins)
        before = [each for each in code[:place] if isinstance(each, Load | Store | Rmw | Fence | Barrier)]
        if before and not isinstance(before[-1], Fence | Barrier) and (_is_weak(before[-1]) or _is_weak(ins)):
            return f"keep_order(); {access}"
        return access


def _is_new(ins: Instruction) -> bool:
    """Whether ptxas takes an instruction for Hopper and its successors only."""
    one_sided = isinstance(ins, Fence) and ins.mode.order in ptx.ONE_SIDED
    return one_sided or (isinstance(ins, Load | Store | Rmw | Fence) and CLUSTER in ins.mode.tags)


def _is_weak(ins: Load | Store | Rmw) -> bool:
    return ins.mode.order is Order.WEAK and not ins.mode.volatile


def _asm(text: str, outputs: str, inputs: str) -> str:
    operands = f"{outputs} : {inputs}".strip()
    return f'asm volatile("{text}" : {operands} : "memory");'
