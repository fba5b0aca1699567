"""Renders memory tests in C++20. A ``std::thread`` for each thread of the test walks the instances one after
the other.

There are no work-groups, so a block's slots are walked in their permuted order by every thread, a pass is a block, and
what the layout says of CTAs and warps is not used. With ``rotate``, a thread plays another thread of the test in each
block. Threads of an instance wait for each other before it as ``backends.shared.layout``
has it. Atomics are ``std::atomic_ref``.

All atomics of C++ are of scope sys. A test with another scope can be written where the scope includes all of its
threads, for then it is the same; ``Kernel.scope`` sees to that. Shared memory and barriers are refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from backends.cpp.progress import ABOUT, HEADERS
from backends.shared.atomics import CAtomics
from backends.shared.kernel import MemoryWord, indented
from backends.shared.layout import WORKING, Layout
from backends.shared.main import COUNTS, SAYS
from backends.shared.syntax import LanguageSyntax
from corpus.errors import InputError
from corpus.laws.c11 import CONSUME
from corpus.litmus.instructions import Barrier, Fence
from corpus.litmus.orders import Scope

ITS_OWN = "// From here on, what is of this test alone.\n"
"""The line after the text that all programs of memory tests share."""


class CppKernel(CAtomics):
    """A memory test as ``NAME.cpp``: compile with ``g++ -std=c++20 -O2 -pthread``; run as ``NAME [iterations]``."""

    title = "C++"
    largest_group = None
    syntax = LanguageSyntax("std::uint32_t")
    signed = "std::int32_t({})"
    unsigned = "std::uint32_t({})"
    unused = "[[maybe_unused]] "
    plain = "plain({})"
    add = "atomic({cell}).fetch_add({value}, std::memory_order_relaxed)"
    claim = "claim({cell}, {value})"
    peek = "atomic({cell}).load(std::memory_order_relaxed)"
    scratch_load = "plain({cell})"
    scratch_store = "plain({cell}) = {value}"
    order_prefix = "std::"
    expected = "expected"
    tags = (CONSUME,)
    scopes: ClassVar = {Scope.SYS: ""}
    fenced = "std::atomic_thread_fence({order})"
    text = (
        """\
// $name. Usage: NAME [iterations]
$test
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <system_error>
#include <thread>
#include <vector>
#ifdef __linux__
#include <sched.h>
#endif
"""
        + HEADERS
        + """
[[maybe_unused]] static volatile std::uint32_t& plain(std::uint32_t& cell) { return cell; }

static std::atomic_ref<std::uint32_t> atomic(std::uint32_t& cell) { return std::atomic_ref<std::uint32_t>(cell); }

static std::uint32_t claim(std::uint32_t& cell, const std::uint32_t value) {
    std::uint32_t old = 0u;
    atomic(cell).compare_exchange_strong(old, value, std::memory_order_relaxed, std::memory_order_relaxed);
    return old;
}

// The calling thread on a core of its own, as far as there are cores, or else two threads may share one for long.
static void pin([[maybe_unused]] const std::uint32_t number) {
#ifdef __linux__
    static const cpu_set_t allowed = [] {
        cpu_set_t set;
        CPU_ZERO(&set);
        sched_getaffinity(0, sizeof set, &set);
        return set;
    }();
    int left = CPU_COUNT(&allowed) == 0 ? -1 : static_cast<int>(number) % CPU_COUNT(&allowed);
    for (int core = 0; left >= 0 && core < CPU_SETSIZE; ++core) {
        if (!CPU_ISSET(core, &allowed) || left-- > 0) continue;
        cpu_set_t mine;
        CPU_ZERO(&mine);
        CPU_SET(core, &mine);
        sched_setaffinity(0, sizeof mine, &mine);
    }
#endif
}

"""
        + f"{ABOUT}\n{SAYS}\n{COUNTS}\n{ITS_OWN}"
        + """
$constants

alignas(128) static std::uint32_t memory[WORDS];
[[maybe_unused]] static std::uint32_t results[RESULT_WORDS];
static std::uint32_t histogram[HISTOGRAM_WORDS];

static void reset(const std::uint32_t index) {
$reset
}

$threads

static void count(const std::uint32_t index) {
$count
}

static void iterate(const std::uint32_t seed) {
    for (std::uint32_t index = 0u; index < INSTANCES; ++index) reset(index);
    std::vector<std::thread> threads;
    try {
$start
    } catch (const std::system_error& error) {
        char what[200];
        std::snprintf(what, sizeof what, "cannot start $number threads: %.99s", error.what());
        fail(what, 2);
    }
    for (auto& thread : threads) thread.join();
    std::fill_n(histogram, HISTOGRAM_WORDS, 0u);
    for (std::uint32_t index = 0u; index < INSTANCES; ++index) count(index);
}

extern const char TRIAL[]; // the end of this file
int main(int argc, char** argv) {
    trial = TRIAL;
    const long iterations = asked = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 20;
    if (iterations > 0) iterate($warm_up);
    begin();
    for (long iteration = 0; iteration < iterations; ++iteration) {
        iterate(static_cast<std::uint32_t>(iteration));
        report(iteration, histogram, HISTOGRAM_WORDS, ROW_WORDS);
    }
    finish();
    return 0;
}
"""
    )

    def __init__(self, layout: Layout) -> None:
        for location in layout.shareds:
            raise InputError(f"{location.name} is in shared memory, and C++ has none")
        super().__init__(layout)

    def call(self, function: str, cell: MemoryWord, arguments: Sequence[str]) -> str:  # noqa: D102
        return f"atomic({cell.text}).{self.functions[function]}({', '.join(arguments)})"

    def ordered(self, thread: int, ins: Fence | Barrier) -> str:  # noqa: D102
        self.check_tags(thread, ins, self.tags)
        return ""

    def barrier(self, barriers: Mapping[int, Barrier]) -> str:  # noqa: D102
        thread, ins = next(iter(barriers.items()))
        raise self.refuse(thread, ins, "has no work-groups whose threads could meet")

    def thread(self, thread: int) -> list[str]:
        """Return the function of one thread: its instances of a block."""
        code, barrier = self.phases(thread)[0]
        if barrier is not None:
            self.barrier({thread: barrier})
        spin = self.layout.parameters.spin
        body = [
            f"const std::uint32_t slot = PERMUTED(next, SLOTS, SHUFFLE * (seed + {13 * thread}u));",
            "const std::uint32_t instance = block * SLOTS + slot;",
            *self.locations(),
            *self.registers(thread),
            *(self.waiting() if spin else []),
            *code,
            *self.kept(thread),
        ]
        return [
            f"static void thread{thread}(const std::uint32_t seed, const std::uint32_t block) {{",
            *(["    std::uint32_t patience = SPIN;"] if spin else []),
            "    for (std::uint32_t next = 0u; next < SLOTS; ++next) {",
            *("        " + line for line in body),
            "    }",
            "}",
        ]

    def play(self) -> list[str]:
        """Return the function of all threads: every block, each as the thread of the test that is its turn."""
        before = self.hammering("first", "STRESS_BEFORE") if self.layout.parameters.stress_before else []
        return [
            "static void play(const std::uint32_t first, const std::uint32_t seed) {",
            f"    {self.warm_up}",
            "    pin(seed + first);",
            "    for (std::uint32_t turn = 0u; turn < BLOCKS; ++turn) {",
            "        const std::uint32_t block = PERMUTED(turn, BLOCKS, SHUFFLE_BLOCKS * seed);",
            *("        " + line for line in before),
            "        switch ((first + ROTATE * turn) % THREADS) {",
            *(
                f"        case {thread}u: thread{thread}(seed, block); break;"
                for thread in range(len(self.test.threads))
            ),
            "        }",
            "    }",
            "}",
        ]

    def parts(self) -> Mapping[str, object]:  # noqa: D102
        functions = [line for thread in range(len(self.test.threads)) for line in [*self.thread(thread), ""]]
        functions += self.play()
        starts = ["for (std::uint32_t first = 0u; first < THREADS; ++first) threads.emplace_back(play, first, seed);"]
        if self.layout.parameters.stress:
            functions += [
                "",
                "static void stress(const std::uint32_t stresser, const std::uint32_t seed) {",
                *("    " + line for line in self.hammering("stresser", "STRESS_ROUNDS")),
                "}",
            ]
            starts += [
                f"const std::uint32_t stressers = {WORKING.replace('STRESSERS', 'STRESS')};",
                "for (std::uint32_t stresser = 0u; stresser < stressers; ++stresser)",
                "    threads.emplace_back(stress, stresser, seed);",
            ]
        return {
            "reset": indented(self.reset()),
            "threads": "\n".join(functions).rstrip("\n"),
            "count": indented(self.count()),
            "start": indented(starts, 2),
            "number": len(self.test.threads) + self.layout.parameters.stress,
        }
