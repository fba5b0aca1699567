r"""Writes the programs in C++ whose hosts launch kernels through CUDA's runtime or HIP's.

The functions of the two have the same names after another prefix, ``cudaMalloc`` and ``hipMalloc``, and kernels are
launched as ``test<<<1, 2>>>(memory)`` in both. In the text, ``@`` is the prefix, and ``@TimedOut`` the error of a
kernel that the watchdog of a display has ended.
"""

from __future__ import annotations

from dataclasses import dataclass

from backends.shared.kernel import Kernel
from backends.shared.main import COUNTS, MAIN, SAYS
from backends.shared.renderer import Renderer
from backends.shared.syntax import LanguageSyntax

_PROGRESS_FILE = """\
// $name, mapping $mapping. Usage: timeout 20 NAME [iterations]; a test that hangs does not come back.
$pseudo_code
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <@header>

@helpers$constants

$kernel

"""

_MEMORY_FILE = """\
// $name. Usage: NAME [iterations]; each prints its outcomes as the other languages' programs do.
$needs$test
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>
#include <@header>

@helpers__global__ void reset(std::uint32_t* const memory) {
    const std::uint32_t index = blockIdx.x * blockDim.x + threadIdx.x;
$reset
}

__global__ @attributesvoid run(std::uint32_t* const memory, std::uint32_t* const results, const std::uint32_t seed) {
@run
}

__global__ void count(const std::uint32_t* const memory, const std::uint32_t* const results,
                      std::uint32_t* const histogram) {
    const std::uint32_t index = blockIdx.x * blockDim.x + threadIdx.x;
$count
}

"""

_PROGRESS = """
static void check(const @Error_t error, const char* const what) {
    if (error == @Success) return;
    if (error == @TimedOut) std::_Exit(124);
    char text[200];
    std::snprintf(text, sizeof text, "%s: %.150s", what, @GetErrorString(error));
    fail(text, 2);
}

static std::uint32_t* memory;
static const std::size_t bytes = sizeof(std::uint32_t) * (std::size_t{INSTANCES} * LOCATIONS + 1u) * STRIDE;

static void set_up() {
    @FuncAttributes attributes; // loads the code, which is else done at the first launch
    check(@FuncGetAttributes(&attributes, (const void*)test), "kernel");
    check(@Malloc(&memory, bytes), "@Malloc");
}

static std::uint32_t iterate(const bool warm_up) {
    std::uint32_t finished = 0;
    check(@Memset(memory, 0, bytes), "@Memset");
    if (warm_up) check(@Memset(&WARM_UP, 1, sizeof WARM_UP), "@Memset");
    test<<<$launched>>>(memory);
    check(@GetLastError(), "launch");
    check(@DeviceSynchronize(), "kernel");
    check(@Memcpy(&finished, &FINISHED, sizeof finished, @MemcpyDeviceToHost), "@Memcpy");
    return finished;
}

"""

_MEMORY = """
static void check(const @Error_t error, const char* const what) {
    if (error == @Success) return;
    if (error == @TimedOut) std::_Exit(124); // a display's watchdog: a hang
    char text[200];
    std::snprintf(text, sizeof text, "%s: %.150s", what, @GetErrorString(error));
    fail(text, 2);
}

extern const char TRIAL[]; // the end of this file
int main(int argc, char** argv) {
    trial = TRIAL;
    const long iterations = asked = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 20;
    const std::uint32_t size = std::min(256u, INSTANCES);
    std::uint32_t *memory, *results, *table;
    check(@Malloc(&memory, sizeof(std::uint32_t) * WORDS), "@Malloc");
    check(@Malloc(&results, sizeof(std::uint32_t) * RESULT_WORDS), "@Malloc");
    check(@Malloc(&table, sizeof(std::uint32_t) * HISTOGRAM_WORDS), "@Malloc");
    std::vector<std::uint32_t> histogram(HISTOGRAM_WORDS);
    @FuncAttributes attributes; // loads the code, which is else done at the first launch
    for (const void* const kernel : {(const void*)reset, (const void*)run, (const void*)count})
        check(@FuncGetAttributes(&attributes, kernel), "kernel");
    const auto launch = [&](const std::uint32_t seed) {
        reset<<<INSTANCES / size, size>>>(memory);
        run<<<GROUPS, GROUP_SIZE>>>(memory, results, seed);
        check(@Memset(table, 0, sizeof(std::uint32_t) * HISTOGRAM_WORDS), "@Memset");
        count<<<INSTANCES / size, size>>>(memory, results, table);
        check(@GetLastError(), "launch");
        check(@Memcpy(histogram.data(), table, sizeof(std::uint32_t) * HISTOGRAM_WORDS, @MemcpyDeviceToHost),
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


@dataclass(frozen=True, slots=True)
class GpuRuntime:
    """A runtime: the ``prefix`` of its functions, its ``header``, and what the error is called, after the prefix, of a
    kernel that a display's watchdog has ended. ``about`` are the functions that ``SAYS`` needs: they name the GPU, the
    driver and the compiler.
    """

    prefix: str
    header: str
    timed_out: str
    about: str

    def progress_file(self, helpers: str = "") -> str:
        """Return the program of a progress test, whose kernel is ``test``; ``helpers`` are functions that it calls."""
        file = _PROGRESS_FILE.replace("@header", self.header).replace("@helpers", helpers)
        return f"{file}{self.about}\n{SAYS}{self._named(_PROGRESS)}{MAIN}"

    def memory_file(self, helpers: str, run: str, attributes: str = "") -> str:
        """Return the program of a memory test, whose kernels are ``reset``, ``run`` and ``count``; ``helpers`` stand
        before them, ``run`` is the body of the test's own kernel, and ``attributes`` its attributes.
        """
        file = _MEMORY_FILE.replace("@header", self.header).replace("@helpers", helpers)
        file = file.replace("@attributes", attributes).replace("@run", run)
        return f"{file}{self.about}\n{SAYS}\n{COUNTS}{self._named(_MEMORY)}"

    def _named(self, text: str) -> str:
        return text.replace("@TimedOut", f"@{self.timed_out}").replace("@", self.prefix)


class RuntimeRenderer(Renderer):
    """A progress test in the words that both languages have for a kernel."""

    syntax = LanguageSyntax("std::uint32_t")
    header = 'extern "C" __global__ void test(std::uint32_t* const memory)'
    group = "blockIdx.x"
    item = "threadIdx.x"


class RuntimeKernel(Kernel):
    """A memory test in the words that both languages have for a kernel."""

    syntax = LanguageSyntax("std::uint32_t")
    group = "blockIdx.x"
    item = "threadIdx.x"
    signed = "std::int32_t({})"
    unsigned = "std::uint32_t({})"
    unused = "[[maybe_unused]] "
    meet = "__syncthreads()"
    scratch_load = "*(volatile std::uint32_t*)&{cell}"
    scratch_store = "*(volatile std::uint32_t*)&{cell} = {value}"
