// What the applications share: words that threads share, each in a cache line of its own, and two threads that run at
// the same time and drift against each other, so that they meet at every instruction sooner or later.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>

#ifdef __linux__
#include <sched.h>
#endif

#include "synth_fence.h"

// The algorithms as they stand in books: each access is atomic and none is ordered, so fences have to do it.
struct alignas(64) Word {
    std::atomic<int> value{0};
    int get() const { return value.load(std::memory_order_relaxed); }
    void set(int to) { value.store(to, std::memory_order_relaxed); }
};

// A pause of up to 31 steps, another one each time.
struct Drift {
    std::uint32_t seed;
    void operator()() {
        seed = seed * 1664525u + 1013904223u;
        for (volatile std::uint32_t left = seed >> 27; left; left = left - 1) {
        }
    }
};

// Waiting for the other thread gives way to it now and then: there may be fewer processors than threads.
struct Patience {
    int looked = 0;
    void operator()() {
        if (++looked % 16384 == 0) std::this_thread::yield();
    }
};

// So many rounds, or fewer where they take more than half a second: on a busy machine a lock that is handed over may wait
// for the scheduler each time.
struct Rounds {
    using Clock = std::chrono::steady_clock;
    const int most;
    int made = 0;
    const Clock::time_point until = Clock::now() + std::chrono::milliseconds(500);
    explicit Rounds(int most) : most(most) {}
    bool next() {
        if (made == most || (made % 16 == 0 && Clock::now() >= until)) return false;
        ++made;
        return true;
    }
};

// Keeps the calling thread on a processor of its own, so that a busy machine does not run one after the other.
inline void settle(int nth) {
#ifdef __linux__
    cpu_set_t ours, one;
    if (sched_getaffinity(0, sizeof ours, &ours) != 0) return;
    nth %= CPU_COUNT(&ours);
    for (int processor = 0; processor < CPU_SETSIZE; ++processor)
        if (CPU_ISSET(processor, &ours) && nth-- == 0) {
            CPU_ZERO(&one);
            CPU_SET(processor, &one);
            sched_setaffinity(0, sizeof one, &one);
            return;
        }
#endif
}

// Runs both at the same time, under stress where it is asked for.
template <class First, class Second>
void together(First first, Second second) {
    const synth::Stress stress;
    std::atomic<int> ready{0};
    const auto meet = [&ready] {
        ready.fetch_add(1);
        while (ready.load() < 2) std::this_thread::yield();
    };
    std::thread other([&] { settle(1); meet(); second(); });
    std::thread one([&] { settle(0); meet(); first(); });
    one.join();
    other.join();
}

// How many rounds, from the command line.
inline int rounds_of(int count, char** words, int otherwise) {
    return count > 1 ? std::atoi(words[1]) : otherwise;
}

// The exit code: 0 where `seen` is as it has to be.
inline int judged(const char* what, int seen, int expected) {
    if (seen != expected) std::fprintf(stderr, "%s: %d, expected %d\n", what, seen, expected);
    return seen != expected;
}

// Two threads count `counter` up under a lock, the first as 0 and the other as 1, and tell how often each has.
inline int counted(int words, char** word, int (*count)(int me, int most), Word& counter) {
    const int most = rounds_of(words, word, 200000);
    int made[2];
    together([&] { made[0] = count(0, most); }, [&] { made[1] = count(1, most); });
    return judged("increments", counter.get(), made[0] + made[1]);
}
