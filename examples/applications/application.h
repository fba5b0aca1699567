// What the applications share: one vocabulary for OpenCL C, CUDA and C++, in all of which each of them compiles, and in
// CUDA and C++ the host; in OpenCL it is opencl.py.
//
// An application says how many work-groups play (GROUPS) and how many words they share (CELLS), and has two functions:
// `play`, what work-group `me` does, and `wrong`, how much went wrong, looked at when all have ended. A work-group is
// one work-item, in C++ a thread. Every access is atomic and none is ordered, as the algorithms stand in books: fences
// have to do it.
#ifndef APPLICATION_H
#define APPLICATION_H

#ifdef WEAK
#include "weak.h"
#define SYNTH_THE_FENCE weak::fence()
#define ROUNDS 100u
#endif
#include "synth_fence.h"

#ifndef ROUNDS
#define ROUNDS 1000u  // of a launch
#endif
#ifndef LAUNCHES
#define LAUNCHES 200u  // of a run
#endif

#if defined(__OPENCL_VERSION__)

#define DEVICE static
#define KERNEL kernel void
typedef volatile global atomic_uint* Memory;
typedef volatile global uint* Words;
#define RELAXED memory_order_relaxed, memory_scope_device
DEVICE unsigned load(Memory cell) { return atomic_load_explicit(cell, RELAXED); }
DEVICE void store(Memory cell, unsigned value) { atomic_store_explicit(cell, value, RELAXED); }
DEVICE unsigned fetch_add(Memory cell, unsigned value) { return atomic_fetch_add_explicit(cell, value, RELAXED); }
DEVICE unsigned exchange(Memory cell, unsigned value) { return atomic_exchange_explicit(cell, value, RELAXED); }
DEVICE bool replaced(Memory cell, unsigned old, unsigned value) {
    return atomic_compare_exchange_strong_explicit(cell, &old, value, memory_order_relaxed, RELAXED);
}
DEVICE void give_way() {}

#elif defined(__CUDACC__)

#include <chrono>
#include <cstdio>
#include <cstdlib>
#define DEVICE static __device__
#define KERNEL __global__ void
typedef volatile unsigned* Memory;
typedef volatile unsigned* Words;
DEVICE unsigned load(Memory cell) { return *cell; }
DEVICE void store(Memory cell, unsigned value) { *cell = value; }
DEVICE unsigned fetch_add(Memory cell, unsigned value) { return atomicAdd((unsigned*)cell, value); }
DEVICE unsigned exchange(Memory cell, unsigned value) { return atomicExch((unsigned*)cell, value); }
DEVICE bool replaced(Memory cell, unsigned old, unsigned value) {
    return atomicCAS((unsigned*)cell, old, value) == old;
}
DEVICE void give_way() {}

#else

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>
#ifdef __linux__
#include <sched.h>
#endif
#define DEVICE inline
#ifdef WEAK
typedef Weak Word;
#else
typedef std::atomic<unsigned> Word;
#endif
typedef Word* Memory;
DEVICE unsigned load(Memory cell) { return cell->load(std::memory_order_relaxed); }
DEVICE void store(Memory cell, unsigned value) { cell->store(value, std::memory_order_relaxed); }
DEVICE unsigned fetch_add(Memory cell, unsigned value) { return cell->fetch_add(value, std::memory_order_relaxed); }
DEVICE unsigned exchange(Memory cell, unsigned value) { return cell->exchange(value, std::memory_order_relaxed); }
DEVICE bool replaced(Memory cell, unsigned old, unsigned value) {
    return cell->compare_exchange_strong(old, value, std::memory_order_relaxed);
}
DEVICE void give_way() { std::this_thread::yield(); }

#endif

// Each shared word is in a cache line of its own.
enum { LINE = 16, ARRIVED = CELLS, READY, LEFT, MEMORY = LINE * (CELLS + 3) };
DEVICE Memory at(Memory memory, unsigned cell) { return memory + LINE * cell; }
DEVICE unsigned get(Memory memory, unsigned cell) { return load(at(memory, cell)); }
DEVICE void set(Memory memory, unsigned cell, unsigned value) { store(at(memory, cell), value); }

// A pause of up to 31 steps, another one each time: work-groups drift against each other, so that they meet at every
// instruction sooner or later. Gives the next seed.
DEVICE unsigned drift(unsigned seed) {
    seed = seed * 1664525u + 1013904223u;
    for (volatile unsigned left = seed >> 27; left;) left = left - 1;
    return seed;
}

// Who has looked so often in vain gives way now and then: there may be fewer processors than threads.
DEVICE void wait_again(unsigned looked) {
    if (looked % 16384 == 0) give_way();
}

DEVICE void play(Memory memory, unsigned me, unsigned seed);
DEVICE unsigned wrong(Memory memory);

// The part of one work-group. The first to arrive play, so that no device has to run more of them than it can at once;
// they wait for each other, but not for ever, for that is more than a device may promise.
DEVICE bool plays(Memory memory, unsigned me, unsigned seed) {
    if (me >= GROUPS) return false;
    fetch_add(at(memory, READY), 1);
    for (unsigned looked = 1; get(memory, READY) < GROUPS && looked < 1u << 24; ++looked) wait_again(looked);
    play(memory, me, drift(seed + 40503u * me));
    fetch_add(at(memory, LEFT), 1);
    return true;
}

#ifdef KERNEL

// Later ones stress memory, if they are asked to, until the others have ended.
KERNEL run(Memory memory, Words scratch, unsigned seed) {
    const unsigned me = fetch_add(at(memory, ARRIVED), 1);
    if (plays(memory, me, seed)) return;
    unsigned loaded = 0;
    for (unsigned round = 0; get(memory, LEFT) < GROUPS; ++round)
        loaded += synth_stress(scratch, me - GROUPS, seed, loaded + round);
    scratch[0] = loaded;
}

KERNEL judge(Memory memory, Words said) { said[0] = wrong(memory); }

// What the host has to know.
KERNEL sizes(Words said) {
    said[0] = GROUPS + SYNTH_STRESS;
    said[1] = MEMORY;
    said[2] = SYNTH_STRESS_WORDS;
}

#endif

#ifdef __cplusplus

// One launch after the other: how much went wrong.
#ifdef __CUDACC__

struct Device {
    unsigned *memory, *scratch, *said;
    Device() {
        cudaMalloc(&memory, 4 * MEMORY);
        cudaMalloc(&scratch, 4 * SYNTH_STRESS_WORDS);
        cudaMalloc(&said, 4);
    }
    unsigned launch(unsigned seed) {
        unsigned lost = 0;
        cudaMemset(memory, 0, 4 * MEMORY);
        run<<<GROUPS + SYNTH_STRESS, 1>>>(memory, scratch, seed);
        judge<<<1, 1>>>(memory, said);
        const cudaError_t error = cudaMemcpy(&lost, said, 4, cudaMemcpyDeviceToHost);
        if (error != cudaSuccess) {
            std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
            std::exit(2);
        }
        return lost;
    }
};

#else

// Keeps the calling thread on a processor of its own, so that a busy machine does not run one after the other.
inline void settle(unsigned nth) {
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

struct Device {
    std::vector<Word> memory = std::vector<Word>(MEMORY);
    const synth::Stress stress;
    unsigned launch(unsigned seed) {
        for (Word& cell : memory) cell = 0;
        std::vector<std::thread> threads;
        const Memory shared = memory.data();
        for (unsigned me = 0; me < GROUPS; ++me)
            threads.emplace_back([shared, me, seed] { settle(me); plays(shared, me, seed); });
        for (std::thread& thread : threads) thread.join();
        return wrong(shared);
    }
};

#endif

// So many launches, up to one that goes wrong, or as many as there are in half a second.
int main(int words, char** word) {
    const auto now = std::chrono::steady_clock::now;
    const unsigned most = words > 1 ? std::atoi(word[1]) : LAUNCHES;
    const auto until = now() + std::chrono::milliseconds(500);
    Device device;
    for (unsigned seed = 0; seed < most && now() < until; ++seed)
        if (const unsigned lost = device.launch(seed)) {
            std::fprintf(stderr, "%s: %d, in launch %u\n", WRONG, static_cast<int>(lost), seed);
            return 1;
        }
}

#endif

#endif
