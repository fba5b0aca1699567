/* Candidate places for fences in an application, and memory stress, both switched on when it is built: docs/hardening.md.

   SYNTH_FENCE(n) is a statement: a fence where place n (0 to 255, a constant) is active, nothing where it is not.
   Bit n % 32 of SYNTH_ACTIVE_<n / 32> says which are. C++11, CUDA, OpenCL C and GLSL. A fence of another kind than
   the strongest of the device: define SYNTH_THE_FENCE before this file is included. */
#ifndef SYNTH_FENCE_H
#define SYNTH_FENCE_H

#ifndef SYNTH_ACTIVE_0
#define SYNTH_ACTIVE_0 0u
#endif
#ifndef SYNTH_ACTIVE_1
#define SYNTH_ACTIVE_1 0u
#endif
#ifndef SYNTH_ACTIVE_2
#define SYNTH_ACTIVE_2 0u
#endif
#ifndef SYNTH_ACTIVE_3
#define SYNTH_ACTIVE_3 0u
#endif
#ifndef SYNTH_ACTIVE_4
#define SYNTH_ACTIVE_4 0u
#endif
#ifndef SYNTH_ACTIVE_5
#define SYNTH_ACTIVE_5 0u
#endif
#ifndef SYNTH_ACTIVE_6
#define SYNTH_ACTIVE_6 0u
#endif
#ifndef SYNTH_ACTIVE_7
#define SYNTH_ACTIVE_7 0u
#endif

#define SYNTH_LOW_WORD(n) ((n) < 64 ? ((n) < 32 ? SYNTH_ACTIVE_0 : SYNTH_ACTIVE_1) : ((n) < 96 ? SYNTH_ACTIVE_2 : SYNTH_ACTIVE_3))
#define SYNTH_HIGH_WORD(n) ((n) < 192 ? ((n) < 160 ? SYNTH_ACTIVE_4 : SYNTH_ACTIVE_5) : ((n) < 224 ? SYNTH_ACTIVE_6 : SYNTH_ACTIVE_7))
#define SYNTH_IS_ACTIVE(n) (((((n) < 128 ? SYNTH_LOW_WORD(n) : SYNTH_HIGH_WORD(n)) >> ((n) % 32)) & 1u) != 0u)

#if defined(__CUDACC__)
#ifndef SYNTH_THE_FENCE
#define SYNTH_THE_FENCE __threadfence()
#endif
#elif defined(__OPENCL_VERSION__)
#ifndef SYNTH_THE_FENCE
#if __OPENCL_C_VERSION__ >= 200
#define SYNTH_THE_FENCE atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE, memory_order_seq_cst, memory_scope_device)
#else
#define SYNTH_THE_FENCE mem_fence(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE)
#endif
#endif
#elif defined(__cplusplus)
#include <atomic>
#ifndef SYNTH_THE_FENCE
#define SYNTH_THE_FENCE std::atomic_thread_fence(std::memory_order_seq_cst)
#endif
#else
#ifndef SYNTH_THE_FENCE
#define SYNTH_THE_FENCE memoryBarrier()
#endif
#endif

#define SYNTH_FENCE(n) do { if (SYNTH_IS_ACTIVE(n)) { SYNTH_THE_FENCE; } } while (false)

/* Stress: what a profile of synth tune says. SYNTH_STRESS threads or work-groups make the accesses of a sequence, bit a
   of SYNTH_STRESS_STORES telling whether its a-th is a store, to a scratch area of SYNTH_STRESS_WORDS words.
   synth_stress is one round of it, in a loop of who has nothing else to do; in C++ synth::Stress has threads for that. */
#ifndef SYNTH_STRESS
#define SYNTH_STRESS 0
#define SYNTH_STRESS_WORDS 1u
#endif

#if defined(__OPENCL_VERSION__) || defined(__CUDACC__) || defined(__cplusplus)
#if defined(__OPENCL_VERSION__)
#define SYNTH_DEVICE static inline
#define SYNTH_SCRATCH volatile __global unsigned*
#elif defined(__CUDACC__)
#define SYNTH_DEVICE inline __device__
#define SYNTH_SCRATCH volatile unsigned*
#else
#define SYNTH_DEVICE inline
#define SYNTH_SCRATCH std::atomic<unsigned>*
#endif
#if defined(__OPENCL_VERSION__) || defined(__CUDACC__)
#define SYNTH_STRESS_LOAD(cell) (cell)
#define SYNTH_STRESS_STORE(cell, value) (cell) = (value)
#else
#define SYNTH_STRESS_LOAD(cell) (cell).load(std::memory_order_relaxed)
#define SYNTH_STRESS_STORE(cell, value) (cell).store((value), std::memory_order_relaxed)
#endif

/* What was loaded, which the next round has to depend on, or no compiler would keep the loads. `number` is that of the
   thread; with a spread of 0 it moves all over the area, else it stays at the first word of a region. */
SYNTH_DEVICE unsigned synth_stress(SYNTH_SCRATCH scratch, unsigned number, unsigned seed, unsigned round) {
    unsigned loaded = 0;
#if SYNTH_STRESS > 0
#if SYNTH_STRESS_SPREAD > 0
    const unsigned region = (number % SYNTH_STRESS_SPREAD) * (2u * seed + 1u) + 11u * seed;
    const unsigned word = SYNTH_STRESS_OFFSET + (region & (SYNTH_STRESS_REGIONS - 1u)) * SYNTH_STRESS_PATCH;
#else
    const unsigned word = ((number + seed + round) * 2654435761u) >> 8;
#endif
    for (unsigned access = 0; access < SYNTH_STRESS_LENGTH; ++access) {
        if ((SYNTH_STRESS_STORES >> access) & 1u) SYNTH_STRESS_STORE(scratch[word & (SYNTH_STRESS_WORDS - 1u)], round);
        else loaded += SYNTH_STRESS_LOAD(scratch[word & (SYNTH_STRESS_WORDS - 1u)]) & 63u;
    }
#else
    (void)scratch, (void)number, (void)seed, (void)round;
#endif
    return loaded;
}
#endif

#if defined(__cplusplus) && !defined(__CUDACC__) && !defined(__OPENCL_VERSION__)
#if SYNTH_STRESS > 0
#include <chrono>
#include <thread>
#include <vector>
#endif

namespace synth {

/* Threads that hammer memory from when it is made until it goes; none where there is to be no stress. */
class Stress {
#if SYNTH_STRESS > 0
public:
    Stress() : seed_(static_cast<unsigned>(std::chrono::steady_clock::now().time_since_epoch().count())),
               scratch_(SYNTH_STRESS_WORDS), going_(true) {
        for (unsigned number = 0; number < SYNTH_STRESS; ++number)
            threads_.emplace_back([this, number] { hammer(number); });
    }
    Stress(const Stress&) = delete;
    Stress& operator=(const Stress&) = delete;
    ~Stress() {
        going_.store(false, std::memory_order_relaxed);
        for (std::thread& thread : threads_) thread.join();
    }

private:
    void hammer(unsigned number) {
        unsigned loaded = 0;
        for (unsigned round = 0; going_.load(std::memory_order_relaxed); ++round)
            loaded += synth_stress(scratch_.data(), number, seed_, loaded + round);
        scratch_[0].store(loaded, std::memory_order_relaxed);
    }

    const unsigned seed_;
    std::vector<std::atomic<unsigned>> scratch_;
    std::atomic<bool> going_;
    std::vector<std::thread> threads_;
#else
public:
    Stress() {}  /* not trivial, so that no compiler finds it unused */
#endif
};

}  // namespace synth
#endif

#endif
