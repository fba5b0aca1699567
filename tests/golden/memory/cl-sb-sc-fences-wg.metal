// cl-sb-sc-fences-wg. Usage: python run_metal.py NAME.metal [iterations]
// P0: st.relaxed.gpu x, 1
// P0: fence.sc.cta.global-fence
// P0: ld.relaxed.gpu r0, y
// P1: st.relaxed.gpu y, 1
// P1: fence.sc.cta.global-fence
// P1: ld.relaxed.gpu r1, x
// exists (P0:r0 == 0 /\ P1:r1 == 0)

#include <metal_stdlib>
using namespace metal;

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
#define GLOBALS 2u
#define SHAREDS 0u
#define STRIDE 32u
#define SHARED_STRIDE 1u
#define SHARED_WORDS 1u
#define COUNTERS 1048576u
#define SPIN 64u
#define SCRATCH 1064960u
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
#define WORDS 1081344u
#define TERMS 2u
#define RESULT_WORDS 32768u
#define ROWS 256u
#define ROW_WORDS 4u
#define HISTOGRAM_WORDS 1026u
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
    memory[ADDRESS(index, 1u)] = 0u; // y
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
        const uint at1 = ADDRESS(instance, 1u); // y
        uint p0_r0 = 0u;
        uint p1_r1 = 0u;
        if (position == 0u || position == 1u) {
            atomic_fetch_add_explicit((volatile device atomic_uint*)&memory[COUNTERS + instance], 1u, memory_order_relaxed);
            while (patience > 0u && atomic_load_explicit((volatile device atomic_uint*)&memory[COUNTERS + instance], memory_order_relaxed) < THREADS) { patience -= 1u; }
        }
        switch (position) {
        case 0u: { // P0
            atomic_store_explicit((volatile device atomic_uint*)&memory[at0], 1u, memory_order_relaxed);
            atomic_thread_fence(mem_flags::mem_device, memory_order_seq_cst, thread_scope_threadgroup);
            p0_r0 = atomic_load_explicit((volatile device atomic_uint*)&memory[at1], memory_order_relaxed);
            results[RESULT(instance, 0u)] = p0_r0;
            break;
        }
        case 1u: { // P1
            atomic_store_explicit((volatile device atomic_uint*)&memory[at1], 1u, memory_order_relaxed);
            atomic_thread_fence(mem_flags::mem_device, memory_order_seq_cst, thread_scope_threadgroup);
            p1_r1 = atomic_load_explicit((volatile device atomic_uint*)&memory[at0], memory_order_relaxed);
            results[RESULT(instance, 1u)] = p1_r1;
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
    const uint value1 = results[RESULT(index, 1u)];
    if ((value0 == 0u) && (value1 == 0u)) { atomic_fetch_add_explicit((volatile device atomic_uint*)&histogram[0], 1u, memory_order_relaxed); }
    uint hash = 0u;
    hash = (hash ^ value0) * 2654435761u;
    hash = (hash ^ value1) * 2654435761u;
    uint probe = 0u;
    for (; probe < ROWS; probe += 1u) {
        const uint row = 2u + (((hash >> 16u) + probe) & (ROWS - 1u)) * ROW_WORDS;
        uint owner = atomic_load_explicit((volatile device atomic_uint*)&histogram[row], memory_order_relaxed);
        if (owner == 0u) { owner = claim((volatile device atomic_uint*)&histogram[row], index + 1u); }
        if (owner == 0u) {
            histogram[row + 2u] = value0;
            histogram[row + 3u] = value1;
            owner = index + 1u;
        }
        if (owner == index + 1u || (value0 == results[RESULT((owner - 1u), 0u)] && value1 == results[RESULT((owner - 1u), 1u)])) {
            atomic_fetch_add_explicit((volatile device atomic_uint*)&histogram[row + 1u], 1u, memory_order_relaxed);
            break;
        }
    }
    if (probe == ROWS) { atomic_fetch_add_explicit((volatile device atomic_uint*)&histogram[1], 1u, memory_order_relaxed); }
}
// trial {"test":"cl-sb-sc-fences-wg","digest":"d9c478babb5621d3a355e21b8c83cf598699188f6520b33fb4164377e0befad5","backend":"metal","instances":16384,"stress":false,"terms":["P0:r0","P1:r1"]}
