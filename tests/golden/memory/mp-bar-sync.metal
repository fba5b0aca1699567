// mp-bar-sync. Usage: python run_metal.py NAME.metal [iterations]
// P0: st x, 1
// P0: bar.sync 0
// P1: bar.sync 0
// P1: ld r1, x
// exists (P1:r1 == 0)

#include <metal_stdlib>
using namespace metal;

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

static inline uint claim(volatile device atomic_uint* const row, const uint value) {
    uint old = 0u;
    while (!atomic_compare_exchange_weak_explicit(row, &old, value, memory_order_relaxed, memory_order_relaxed)) {
        if (old != 0u) { break; }
    }
    return old;
}

kernel void reset(volatile device uint* const memory [[buffer(0)]],
                  const uint index [[thread_position_in_grid]]) {
    memory[ADDRESS(index, 0u)] = 0u; // x
    memory[COUNTERS + index] = 0u;
}

kernel void run(volatile device uint* const memory [[buffer(0)]], device uint* const results [[buffer(1)]],
                constant uint& seed [[buffer(3)]], const uint group_id [[threadgroup_position_in_grid]],
                const uint item_id [[thread_position_in_threadgroup]]) {
    threadgroup volatile uint local_memory[SHARED_WORDS];
    if (seed == 4294967295u) { return; } // launched to be compiled
    const uint group = group_id;
    const uint item = item_id;
    const uint role = group / CTA_STEP % ROLES;
    const uint turn = group / TURN_STEP % TURNS;
    uint patience = SPIN;
    for (uint nth = 0u; nth < PASSES; nth += 1u) {
        const uint cta = (role + ROTATE * nth) % CTAS;
        const uint warp = cta * WARPS + (item / (LANES * SLOTS) + ROTATE * (nth / CTAS)) % WARPS;
        const uint lane = (item + ROTATE * (nth / (CTAS * WARPS))) % LANES;
        const uint slot = PERMUTED(item / LANES % SLOTS, SLOTS, SHUFFLE * (seed + 13u * warp));
        const uint instance = INSTANCE(turn, nth, cta, slot, seed);
        const uint position = warp * LANES + lane;
        const uint at0 = ADDRESS(instance, 0u); // x
        uint p1_r1 = 0u;
        if (position == 0u || position == 1u) {
            atomic_fetch_add_explicit((volatile device atomic_uint*)&memory[COUNTERS + instance], 1u, memory_order_relaxed);
            while (patience > 0u && atomic_load_explicit((volatile device atomic_uint*)&memory[COUNTERS + instance], memory_order_relaxed) < THREADS) { patience -= 1u; }
        }
        switch (position) {
        case 0u: { // P0
            memory[at0] = 1u;
            break;
        }
        case 1u: { // P1
            break;
        }
        default: { break; }
        }
        if (cta == 0u) { threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup); }
        switch (position) {
        case 0u: { // P0
            break;
        }
        case 1u: { // P1
            p1_r1 = memory[at0];
            results[RESULT(instance, 0u)] = p1_r1;
            break;
        }
        default: { break; }
        }
    }
}

kernel void count(const volatile device uint* const memory [[buffer(0)]],
                  const device uint* const results [[buffer(1)]], volatile device uint* const histogram [[buffer(2)]],
                  const uint index [[thread_position_in_grid]]) {
    const uint value0 = results[RESULT(index, 0u)];
    if (value0 == 0u) { atomic_fetch_add_explicit((volatile device atomic_uint*)&histogram[0], 1u, memory_order_relaxed); }
    uint hash = 0u;
    hash = (hash ^ value0) * 2654435761u;
    uint probe = 0u;
    for (; probe < ROWS; probe += 1u) {
        const uint row = 2u + (((hash >> 16u) + probe) & (ROWS - 1u)) * ROW_WORDS;
        uint owner = atomic_load_explicit((volatile device atomic_uint*)&histogram[row], memory_order_relaxed);
        if (owner == 0u) { owner = claim((volatile device atomic_uint*)&histogram[row], index + 1u); }
        if (owner == 0u) {
            histogram[row + 2u] = value0;
            owner = index + 1u;
        }
        if (owner == index + 1u || (value0 == results[RESULT((owner - 1u), 0u)])) {
            atomic_fetch_add_explicit((volatile device atomic_uint*)&histogram[row + 1u], 1u, memory_order_relaxed);
            break;
        }
    }
    if (probe == ROWS) { atomic_fetch_add_explicit((volatile device atomic_uint*)&histogram[1], 1u, memory_order_relaxed); }
}
// trial {"test":"mp-bar-sync","digest":"5ff9336614a3e66996efe71295fb472dad7ce5fca93b884e539c8a9c3bf77ce4","backend":"metal","instances":16384,"stress":false,"terms":["P1:r1"]}
