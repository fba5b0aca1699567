// bulk-push. Usage: NAME [iterations]; each prints its outcomes as the other languages' programs do.
// Needs sm_90 or later.
// Checked for sm_90a and sm_100a.
// P0: mbarrier.init m, 1
// P0: mbarrier.arrive_expect.release.cta r2, m, 16
// P0: st.release.cluster f, 1
// P0: LC0:
// P0: mbarrier.test_wait.parity.acquire.cluster r0, m, 0
// P0: beq r0, 0, LC0
// P0: ld r1, d
// P1: LC0:
// P1: ld.acquire.cluster r1, f
// P1: beq r1, 0, LC0
// P1: cp.async.bulk.mbarrier::complete_tx d, s, 16, m
// exists (P0:r1 == 0)

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>
#include <cuda_runtime.h>

#define THREADS 2u
#define CTAS 2u
#define ROLES 2u
#define WARPS 1u
#define LANES 1u
#define SLOTS 32u
#define BLOCKS 512u
#define PASSES 1u
#define TURNS 512u
#define INSTANCES 16384u
#define CTA_STEP 1u
#define TURN_STEP 2u
#define SHUFFLE 1u
#define SHUFFLE_BLOCKS 1u
#define SCATTER 0u
#define STRIPE 0u
#define STRIPES 511u
#define PERMUTE_LOCATIONS 0u
#define ROTATE 0u
#define CONFLICTS 0u
#define GROUPS 1024u
#define GROUP_SIZE 32u
#define GLOBALS 1u
#define SHAREDS 3u
#define STRIDE 32u
#define SHARED_STRIDE 4u
#define SHARED_WORDS 384u
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
#define CELL_WORDS 4u
<parts/addresses.h>

// Always 0, but only the host knows: the marks of accesses, and the questions whether to go on.
__constant__ std::uint32_t zero[13];

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

// A location: all words of its cell.
__device__ inline void fill(std::uint32_t* const cell, const std::uint32_t value) {
    for (std::uint32_t word = 0; word < CELL_WORDS; ++word) cell[word] = value;
}

// Waits until the phase of an mbarrier is complete that has this parity.
__device__ inline void await(const std::uint32_t mbarrier, const std::uint32_t parity) {
    std::uint32_t complete;
    do {
        asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                     : "=r"(complete) : "r"(mbarrier), "r"(parity) : "memory");
    } while (complete == 0u);
}

// A barrier of the whole cluster, which orders memory.
__device__ inline void meet_in_cluster() {
    asm volatile("barrier.cluster.arrive.release; barrier.cluster.wait.acquire;" : : : "memory");
}

// Where another CTA of the cluster has what this one has at an address in shared memory.
__device__ inline std::uint32_t mapped(const std::uint32_t address, const std::uint32_t rank) {
    std::uint32_t there;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank) : "memory");
    return there;
}

struct Registers0 { std::uint32_t reg_r0; std::uint32_t reg_r1; std::uint64_t reg_r2; };
extern "C" __device__ __noinline__ Registers0 thread_0_0(Registers0 p0, const Globals globals, const Shareds shareds, const Shareds peer0, const Shareds peer1, const std::uint32_t at0, const std::uint32_t at1, const std::uint32_t at2, const std::uint32_t at3) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" : : "r"(shareds[at2 + zero[0u]]) : "memory");
    keep_order(zero[8u]); asm volatile("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 %0, [%1], 16;" : "=l"(p0.reg_r2) : "r"(shareds[at2 + zero[1u]]) : "memory");
    keep_order(zero[9u]); asm volatile("st.release.cluster.global.u32 [%0], %1;" : : "l"(globals[at3 + zero[2u]]), "r"(1u) : "memory");
    do {
        keep_order(zero[10u]); asm volatile("{ .reg .pred complete; mbarrier.test_wait.parity.acquire.cluster.shared::cta.b64 complete, [%1], %2; selp.u32 %0, 1, 0, complete; }" : "=r"(p0.reg_r0) : "r"(shareds[at2 + zero[3u]]), "r"(0u) : "memory");
    } while (p0.reg_r0 == 0u);
    keep_order(zero[11u]); asm volatile("ld.shared.u32 %0, [%1];" : "=r"(p0.reg_r1) : "r"(shareds[at1 + zero[4u]]) : "memory");
    return p0;
}
struct Registers1 { std::uint32_t reg_r1; };
extern "C" __device__ __noinline__ Registers1 thread_1_0(Registers1 p1, const Globals globals, const Shareds shareds, const Shareds peer0, const Shareds peer1, const std::uint32_t at0, const std::uint32_t at1, const std::uint32_t at2, const std::uint32_t at3) {
    do {
        asm volatile("ld.acquire.cluster.global.u32 %0, [%1];" : "=r"(p1.reg_r1) : "l"(globals[at3 + zero[5u]]) : "memory");
    } while (p1.reg_r1 == 0u);
    keep_order(zero[12u]); asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], 16, [%2];" : : "r"(peer0[at1 + zero[6u]]), "r"(shareds[at0 + zero[6u]]), "r"(peer0[at2 + zero[6u]]) : "memory");
    return p1;
}

__global__ void reset(std::uint32_t* const memory) {
    const std::uint32_t index = blockIdx.x * blockDim.x + threadIdx.x;
    fill(&memory[ADDRESS(index, 0u)], 0u); // f
    memory[COUNTERS + index] = 0u;
}

__global__ __cluster_dims__(2, 1, 1) void run(std::uint32_t* const memory, std::uint32_t* const results, const std::uint32_t seed) {
    __shared__ alignas(16) std::uint32_t local_memory[SHARED_WORDS];
    const Globals globals{__cvta_generic_to_global(memory)};
    const Shareds shareds{std::uint32_t(__cvta_generic_to_shared(local_memory))};
    [[maybe_unused]] const Shareds peer0{mapped(shareds.base, 0u)};
    [[maybe_unused]] const Shareds peer1{mapped(shareds.base, 1u)};
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
        [[maybe_unused]] const std::uint32_t at0 = 4u * SHARED_ADDRESS(turn * PASSES + nth, slot, 0u); // s, shared
        [[maybe_unused]] const std::uint32_t at1 = 4u * SHARED_ADDRESS(turn * PASSES + nth, slot, 1u); // d, shared
        [[maybe_unused]] const std::uint32_t at2 = 4u * SHARED_ADDRESS(turn * PASSES + nth, slot, 2u); // m, shared
        [[maybe_unused]] const std::uint32_t at3 = 4u * ADDRESS(instance, 0u); // f
        Registers0 p0{0u, 0u, 0u};
        Registers1 p1{0u};
        if (item < SLOTS) {
            fill(&local_memory[SHARED_ADDRESS(turn * PASSES + nth, item, 0u)], 1u); // s
            fill(&local_memory[SHARED_ADDRESS(turn * PASSES + nth, item, 1u)], 0u); // d
            fill(&local_memory[SHARED_ADDRESS(turn * PASSES + nth, item, 2u)], 0u); // m
        }
        asm volatile("fence.proxy.async;" : : : "memory");
        meet_in_cluster();
        if (position == 0u || position == 1u) {
            atomicAdd(&memory[COUNTERS + instance], 1u);
            while (patience > 0u && atomicAdd(&memory[COUNTERS + instance], 0u) < THREADS) { patience -= 1u; }
        }
        switch (position) {
        case 0u: { // P0
            p0 = thread_0_0(p0, globals, shareds, peer0, peer1, at0, at1, at2, at3);
            if (zero[7u] != 0u) results[0] = p0.reg_r0 + p0.reg_r2;
            results[RESULT(instance, 0u)] = p0.reg_r1;
            break;
        }
        case 1u: { // P1
            p1 = thread_1_0(p1, globals, shareds, peer0, peer1, at0, at1, at2, at3);
            if (zero[7u] != 0u) results[0] = p1.reg_r1;
            break;
        }
        default: { break; }
        }
        asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" : : : "memory");
        meet_in_cluster();
        if (cta == 0u && item < SLOTS) { // m
            const std::uint32_t mbarrier = shareds[4u * SHARED_ADDRESS(turn * PASSES + nth, item, 2u)];
            await(mbarrier, 0u);
            for (std::uint32_t number = 0; number < 1u; ++number) asm volatile("{ .reg .b64 state; mbarrier.arrive.shared::cta.b64 state, [%0]; }" : : "r"(mbarrier) : "memory");
            await(mbarrier, 1u);
            asm volatile("mbarrier.inval.shared::cta.b64 [%0];" : : "r"(mbarrier) : "memory");
        }
        meet_in_cluster();
        __syncthreads();
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
const char TRIAL[] = "{\"test\":\"bulk-push\",\"digest\":\"e26da60baff088ceabc34e0c507da2683e4df30ae9dc9c9f7f52a815bb6d92dd\",\"backend\":\"cuda\",\"instances\":16384,\"stress\":false,\"terms\":[\"P0:r1\"]";
