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
#if __has_include(<sys/utsname.h>)
#include <sys/utsname.h>
#endif

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

