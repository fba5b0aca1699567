r"""Holds the C++ text of hosts that launch kernels through CUDA's runtime or HIP's.

The functions of the two have the same names after another prefix, ``cudaMalloc`` and ``hipMalloc``, and kernels are
launched as ``test<<<1, 2>>>(memory)`` in both. In the text, ``@`` is the prefix, and ``@TimedOut`` the error of a
kernel that the watchdog of a display has ended.
"""

from __future__ import annotations

from backends.shared.main import COUNTS, MAIN, SAYS

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


def progress_host(about: str, prefix: str, timed_out: str) -> str:
    """Return the host of a progress test, whose kernel is ``test``. ``about`` are the functions that ``SAYS`` needs,
    ``timed_out`` is the rest of the name of the error after the prefix.
    """
    return f"{about}\n{SAYS}{_named(_PROGRESS, prefix, timed_out)}{MAIN}"


def memory_host(about: str, prefix: str, timed_out: str) -> str:
    """Return the host of a memory test, whose kernels are ``reset``, ``run`` and ``count``."""
    return f"{about}\n{SAYS}\n{COUNTS}{_named(_MEMORY, prefix, timed_out)}"


def _named(text: str, prefix: str, timed_out: str) -> str:
    return text.replace("@TimedOut", f"@{timed_out}").replace("@", prefix)
