// sb. Usage: python run_opencl.py NAME.cl [iterations]
// P0: st.relaxed.sys x, 1
// P0: ld.relaxed.sys r0, y
// P1: st.sc.sys y, 1
// P1: fence.sc.sys
// P1: ld.sc.sys r0, x
// exists (P0:r0 == 0 /\ P1:r0 == 0)

#define THREADS 2u
#define CTAS 2u
#define ROLES 3u
#define WARPS 1u
#define LANES 1u
#define SLOTS 32u
#define BLOCKS 8u
#define PASSES 4u
#define TURNS 2u
#define INSTANCES 256u
#define CTA_STEP 1u
#define TURN_STEP 3u
#define SHUFFLE 0u
#define SHUFFLE_BLOCKS 1u
#define SCATTER 0u
#define STRIPE 0u
#define STRIPES 1u
#define PERMUTE_LOCATIONS 0u
#define ROTATE 0u
#define CONFLICTS 0u
#define GROUPS 6u
#define GROUP_SIZE 32u
#define GLOBALS 2u
#define SHAREDS 0u
#define STRIDE 32u
#define SHARED_STRIDE 1u
#define SHARED_WORDS 1u
#define COUNTERS 16384u
#define SPIN 1000u
#define SCRATCH 16640u
#define SCRATCH_WORDS 16384u
#define STRESS 1u
#define STRESSERS 2u
#define STRESS_ROUNDS 256u
#define STRESS_BEFORE 0u
#define VARY 0u
#define SPREAD 0u
#define PATCH 64u
#define REGIONS 64u
#define OFFSET 0u
#define WORDS 33024u
#define TERMS 2u
#define RESULT_WORDS 512u
#define ROWS 256u
#define ROW_WORDS 4u
#define HISTOGRAM_WORDS 1026u
<parts/addresses.h>

__kernel void reset(volatile __global uint* const memory) {
    const uint index = (uint)get_global_id(0);
    memory[ADDRESS(index, 0u)] = 0u; // x
    memory[ADDRESS(index, 1u)] = 0u; // y
    memory[COUNTERS + index] = 0u;
}

__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
void run(volatile __global uint* const memory, __global uint* const results, const uint seed) {
    __local volatile uint local_memory[SHARED_WORDS];
    if (seed == 4294967295u) { return; } // launched to be compiled
    const uint group = (uint)get_group_id(0);
    const uint item = (uint)get_local_id(0);
    const uint role = group / CTA_STEP % ROLES;
    const uint turn = group / TURN_STEP % TURNS;
    if (role >= CTAS) {
        const uint stresser = turn * STRESS + role - CTAS;
        if (stresser < STRESSERS - VARY * (((seed + 1u) * 2654435761u) >> 16u) % (STRESSERS / 2u + 1u)) {
            const uint number = stresser * GROUP_SIZE + item + seed;
            uint loaded = 0u;
            for (uint rounds = 0u; rounds < STRESS_ROUNDS; rounds += 1u) {
                memory[SCRATCH + ((((number + loaded) * 2654435761u) >> 8u) & (SCRATCH_WORDS - 1u))] = rounds;
                loaded += memory[SCRATCH + ((((number + loaded) * 2654435761u) >> 8u) & (SCRATCH_WORDS - 1u))] & 63u;
                loaded += 1u;
            }
            memory[SCRATCH + ((((number + loaded) * 2654435761u) >> 8u) & (SCRATCH_WORDS - 1u))] = loaded;
        }
        return;
    }
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
        uint p1_r0 = 0u;
        if (position == 0u || position == 1u) {
            atomic_add(&memory[COUNTERS + instance], 1u);
            while (patience > 0u && atomic_add(&memory[COUNTERS + instance], 0u) < THREADS) { patience -= 1u; }
        }
        switch (position) {
        case 0u: { // P0
            atomic_store_explicit((volatile __global atomic_uint*)&memory[at0], 1u, memory_order_relaxed, memory_scope_device);
            p0_r0 = atomic_load_explicit((volatile __global atomic_uint*)&memory[at1], memory_order_relaxed, memory_scope_device);
            results[RESULT(instance, 0u)] = p0_r0;
            break;
        }
        case 1u: { // P1
            atomic_store_explicit((volatile __global atomic_uint*)&memory[at1], 1u, memory_order_seq_cst, memory_scope_device);
            atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE, memory_order_seq_cst, memory_scope_device);
            p1_r0 = atomic_load_explicit((volatile __global atomic_uint*)&memory[at0], memory_order_seq_cst, memory_scope_device);
            results[RESULT(instance, 1u)] = p1_r0;
            break;
        }
        default: { break; }
        }
    }
}

__kernel void count(const __global uint* const memory, const __global uint* const results,
                    volatile __global uint* const histogram) {
    const uint index = (uint)get_global_id(0);
    const uint value0 = results[RESULT(index, 0u)];
    const uint value1 = results[RESULT(index, 1u)];
    if ((value0 == 0u) && (value1 == 0u)) { atomic_add(&histogram[0], 1u); }
    uint hash = 0u;
    hash = (hash ^ value0) * 2654435761u;
    hash = (hash ^ value1) * 2654435761u;
    uint probe = 0u;
    for (; probe < ROWS; probe += 1u) {
        const uint row = 2u + (((hash >> 16u) + probe) & (ROWS - 1u)) * ROW_WORDS;
        uint owner = atomic_add(&histogram[row], 0u);
        if (owner == 0u) { owner = atomic_cmpxchg(&histogram[row], 0u, index + 1u); }
        if (owner == 0u) {
            histogram[row + 2u] = value0;
            histogram[row + 3u] = value1;
            owner = index + 1u;
        }
        if (owner == index + 1u || (value0 == results[RESULT((owner - 1u), 0u)] && value1 == results[RESULT((owner - 1u), 1u)])) {
            atomic_add(&histogram[row + 1u], 1u);
            break;
        }
    }
    if (probe == ROWS) { atomic_add(&histogram[1], 1u); }
}
// trial {"test":"SB","digest":"6bf44879f0291afa60147283a6ea7195e2fa90c00889b82815371c20d290f990","backend":"opencl","instances":256,"stress":true,"terms":["P0:r0","P1:r0"]}
