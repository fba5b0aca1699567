// mp-bar-arrive. Usage: NAME [iterations]; each prints its outcomes as the other languages' programs do.
// P0: st x, 1
// P0: bar.arrive 0
// P1: bar.sync 0
// P1: ld r1, x
// exists (P1:r1 == 0)

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>
#include <cuda_runtime.h>

#define THREADS 2u
#define CTAS 1u
#define ROLES 1u
#define WARPS 2u
#define LANES 1u
#define SLOTS 32u
#define BLOCKS 512u
#define PASSES 1u
#define TURNS 512u
#define INSTANCES 16384u
#define CTA_STEP 1u
#define TURN_STEP 1u
#define SHUFFLE 1u
#define SHUFFLE_BLOCKS 1u
#define SCATTER 0u
#define STRIPE 0u
#define STRIPES 511u
#define PERMUTE_LOCATIONS 0u
#define ROTATE 0u
#define CONFLICTS 0u
#define GROUPS 512u
#define GROUP_SIZE 64u
#define GLOBALS 1u
#define SHAREDS 0u
#define STRIDE 32u
#define SHARED_STRIDE 1u
#define SHARED_WORDS 1u
#define COUNTERS 524288u
#define SPIN 64u
#define SCRATCH 540672u
#define SCRATCH_WORDS 16384u
#define STRESS 0u
#define STRESSERS 0u
#define STRESS_ROUNDS 256u
#define STRESS_BEFORE 0u
#define VARY 0u
#define SPREAD 0u
#define PATCH 64u
#define REGIONS 64u
#define OFFSET 0u
#define WORDS 557056u
#define TERMS 1u
#define RESULT_WORDS 16384u
#define ROWS 256u
#define ROW_WORDS 3u
#define HISTOGRAM_WORDS 770u
<parts/addresses.h>

// Always 0, but only the host knows: the marks of accesses, and the questions whether to go on.
__constant__ std::uint32_t zero[4];

__device__ inline void keep_order(const std::uint32_t word) {
    asm volatile("{ .reg .pred never; setp.ne.u32 never, %0, 0; @never exit; }" : : "r"(word) : "memory");
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

struct Registers0 { };
extern "C" __device__ __noinline__ Registers0 thread_0_0(Registers0 p0, const Globals globals, const Shareds shareds, const std::uint32_t at0) {
    asm volatile("st.global.u32 [%0], %1;" : : "l"(globals[at0 + zero[0u]]), "r"(1u) : "memory");
    return p0;
}
extern "C" __device__ __noinline__ Registers0 thread_0_1(Registers0 p0, const Globals globals, const Shareds shareds, const std::uint32_t at0) {
    return p0;
}
struct Registers1 { std::uint32_t reg_r1; };
extern "C" __device__ __noinline__ Registers1 thread_1_0(Registers1 p1, const Globals globals, const Shareds shareds, const std::uint32_t at0) {
    return p1;
}
extern "C" __device__ __noinline__ Registers1 thread_1_1(Registers1 p1, const Globals globals, const Shareds shareds, const std::uint32_t at0) {
    asm volatile("ld.global.u32 %0, [%1];" : "=r"(p1.reg_r1) : "l"(globals[at0 + zero[1u]]) : "memory");
    return p1;
}

__global__ void reset(std::uint32_t* const memory) {
    const std::uint32_t index = blockIdx.x * blockDim.x + threadIdx.x;
    memory[ADDRESS(index, 0u)] = 0u; // x
    memory[COUNTERS + index] = 0u;
}

__global__ void run(std::uint32_t* const memory, std::uint32_t* const results, const std::uint32_t seed) {
    __shared__ std::uint32_t local_memory[SHARED_WORDS];
    const Globals globals{__cvta_generic_to_global(memory)};
    const Shareds shareds{std::uint32_t(__cvta_generic_to_shared(local_memory))};
    if (seed == 4294967295u) { return; } // launched to be compiled
    const std::uint32_t group = blockIdx.x;
    const std::uint32_t item = threadIdx.x;
    const std::uint32_t role = group / CTA_STEP % ROLES;
    const std::uint32_t turn = group / TURN_STEP % TURNS;
    std::uint32_t patience = SPIN;
    for (std::uint32_t nth = 0u; nth < PASSES; nth += 1u) {
        const std::uint32_t cta = (role + ROTATE * nth) % CTAS;
        const std::uint32_t warp = cta * WARPS + (item / (LANES * SLOTS) + ROTATE * (nth / CTAS)) % WARPS;
        const std::uint32_t lane = (item + ROTATE * (nth / (CTAS * WARPS))) % LANES;
        const std::uint32_t slot = PERMUTED(item / LANES % SLOTS, SLOTS, SHUFFLE * (seed + 13u * warp));
        const std::uint32_t instance = INSTANCE(turn, nth, cta, slot, seed);
        const std::uint32_t position = warp * LANES + lane;
        [[maybe_unused]] const std::uint32_t at0 = 4u * ADDRESS(instance, 0u); // x
        Registers0 p0{};
        Registers1 p1{0u};
        if (position == 0u || position == 1u) {
            atomicAdd(&memory[COUNTERS + instance], 1u);
            while (patience > 0u && atomicAdd(&memory[COUNTERS + instance], 0u) < THREADS) { patience -= 1u; }
        }
        switch (position) {
        case 0u: { // P0
            p0 = thread_0_0(p0, globals, shareds, at0);
            break;
        }
        case 1u: { // P1
            p1 = thread_1_0(p1, globals, shareds, at0);
            break;
        }
        default: { break; }
        }
        if (cta == 0u) { if (position == 0u) asm volatile("barrier.arrive 1, 64;" : : : "memory"); if (position == 1u) asm volatile("barrier.sync 1, 64;" : : : "memory"); }
        switch (position) {
        case 0u: { // P0
            p0 = thread_0_1(p0, globals, shareds, at0);
            break;
        }
        case 1u: { // P1
            p1 = thread_1_1(p1, globals, shareds, at0);
            results[RESULT(instance, 0u)] = p1.reg_r1;
            break;
        }
        default: { break; }
        }
    }
}

__global__ void count(const std::uint32_t* const memory, const std::uint32_t* const results,
                      std::uint32_t* const histogram) {
    const std::uint32_t index = blockIdx.x * blockDim.x + threadIdx.x;
    const std::uint32_t value0 = results[RESULT(index, 0u)];
    if (value0 == 0u) { atomicAdd(&histogram[0], 1u); }
    std::uint32_t hash = 0u;
    hash = (hash ^ value0) * 2654435761u;
    std::uint32_t probe = 0u;
    for (; probe < ROWS; probe += 1u) {
        const std::uint32_t row = 2u + (((hash >> 16u) + probe) & (ROWS - 1u)) * ROW_WORDS;
        std::uint32_t owner = atomicAdd(&histogram[row], 0u);
        if (owner == 0u) { owner = atomicCAS(&histogram[row], 0u, index + 1u); }
        if (owner == 0u) {
            histogram[row + 2u] = value0;
            owner = index + 1u;
        }
        if (owner == index + 1u || (value0 == results[RESULT((owner - 1u), 0u)])) {
            atomicAdd(&histogram[row + 1u], 1u);
            break;
        }
    }
    if (probe == ROWS) { atomicAdd(&histogram[1], 1u); }
}

<parts/device.cu>
<parts/trial.cpp>

<parts/outcomes.cpp>

<parts/memory-main.cu>
const char TRIAL[] = "{\"test\":\"mp-bar-arrive\",\"digest\":\"1150903244d616f001025301adf0994a2cf7d3a9730fa2587dd9372ff57c6106\",\"backend\":\"cuda\",\"instances\":16384,\"stress\":false,\"terms\":[\"P1:r1\"]";
