"""Renders progress tests in C++20. A work-group is a ``std::thread``, and all of them start together (Sorensen et al.
2021, section 6.3.1).
"""

from __future__ import annotations

from backends.shared.main import MAIN, SAYS
from backends.shared.renderer import Renderer
from backends.shared.syntax import LanguageSyntax

HEADERS = """\
#if __has_include(<sys/utsname.h>)
#include <sys/utsname.h>
#endif
"""

ABOUT = r"""static const char* device() {
    static char text[256];
    const unsigned cores = std::thread::hardware_concurrency();
#if __has_include(<sys/utsname.h>)
    utsname name;
    if (uname(&name) == 0) {
        std::snprintf(text, sizeof text, "%.99s %.99s, %u cores", name.sysname, name.machine, cores);
        return text;
    }
#endif
    std::snprintf(text, sizeof text, "%u cores", cores);
    return text;
}

static const char* driver() { return ""; }

static const char* compiler() {
#if defined(__clang__)
    return __VERSION__;
#elif defined(__GNUC__)
    return "g++ " __VERSION__;
#else
    return "";
#endif
}
"""
"""The functions that name the machine, in the words of ``backends.cpp.backend``, and the compiler."""


class Cpp(Renderer):
    """A progress test as ``NAME.cpp``: compile with ``g++ -std=c++20 -O2 -pthread``; run as ``NAME [iterations]``.

    800 threads at most unless asked otherwise: the published over-subscribed run, 100 for each of 8 cores.
    """

    syntax = LanguageSyntax("std::uint32_t")
    exchange = "(cell).exchange(value, std::memory_order_acq_rel)"
    add = "(cell).fetch_add(value, std::memory_order_acq_rel)"
    read = "WARM_UP.load(std::memory_order_relaxed)"
    header = "static void test(const std::uint32_t group_id)"
    groups = 800
    group = "group_id"
    file = (
        """\
// $name, mapping $mapping. Usage: NAME [iterations]; a test that hangs does not come back.
$pseudo_code
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <latch>
#include <system_error>
#include <thread>
#include <vector>
"""
        + HEADERS
        + """
$constants

alignas(128) static std::atomic<std::uint32_t> memory[(INSTANCES * LOCATIONS + 1u) * STRIDE];

$kernel

"""
        + f"{ABOUT}\n{SAYS}"
        + """
static void set_up() {}

static std::uint32_t iterate(const bool warm_up) {
    for (auto& cell : memory) cell.store(0u, std::memory_order_relaxed);
    if (warm_up) WARM_UP.store(1u, std::memory_order_relaxed);
    std::latch start(THREADS * INSTANCES);
    std::vector<std::thread> threads;
    try {
        for (std::uint32_t group = 0; group < THREADS * INSTANCES; ++group)
            threads.emplace_back([group, &start] { start.arrive_and_wait(); test(group); });
    } catch (const std::system_error& error) {
        // The threads that did start wait for the others.
        char what[200];
        std::snprintf(what, sizeof what, "cannot start %u threads: %.99s", THREADS * INSTANCES, error.what());
        fail(what, 2);
    }
    for (auto& thread : threads) thread.join();
    return FINISHED.load();
}

"""
        + MAIN
    )
