// shared. Usage: python run_opencl.py NAME.cl [iterations]
// P0: st x, 1
// P0: bar.local-fence.sync 0
// P0: st.release.sys y, 1
// P1: ld.acquire.gpu r0, y
// P1: fence.acq_rel.cta.global-fence
// P1: bar.local-fence.sync 0
// P1: ld r1, x
// P2: atom.relaxed.gpu.max r0, y, -2
// exists (x == 1 /\ P1:r0 == 0 /\ P1:r1 == 1 /\ P2:r0 == 1)

#define THREADS 3u
#define CTAS 2u
#define ROLES 2u
#define WARPS 2u
#define LANES 1u
#define SLOTS 32u
#define BLOCKS 2u
#define PASSES 1u
#define TURNS 2u
#define INSTANCES 64u
#define CTA_STEP 1u
#define TURN_STEP 2u
#define SHUFFLE 1u
#define SHUFFLE_BLOCKS 1u
#define SCATTER 0u
#define STRIPE 0u
#define STRIPES 1u
#define PERMUTE_LOCATIONS 0u
#define ROTATE 0u
#define CONFLICTS 0u
#define GROUPS 4u
#define GROUP_SIZE 64u
#define GLOBALS 1u
#define SHAREDS 1u
#define STRIDE 32u
#define SHARED_STRIDE 1u
#define SHARED_WORDS 32u
#define COUNTERS 2048u
#define SPIN 0u
#define SCRATCH 2112u
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
#define WORDS 18496u
#define TERMS 4u
#define RESULT_WORDS 256u
#define ROWS 256u
#define ROW_WORDS 6u
#define HISTOGRAM_WORDS 1538u
<parts/addresses.h>

__kernel void reset(volatile __global uint* const memory) {
    const uint index = (uint)get_global_id(0);
    memory[ADDRESS(index, 0u)] = 0u; // y
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
    for (uint nth = 0u; nth < PASSES; nth += 1u) {
        const uint cta = (role + ROTATE * nth) % CTAS;
        const uint warp = cta * WARPS + (item / (LANES * SLOTS) + ROTATE * (nth / CTAS)) % WARPS;
        const uint lane = (item + ROTATE * (nth / (CTAS * WARPS))) % LANES;
        const uint slot = PERMUTED(item / LANES % SLOTS, SLOTS, SHUFFLE * (seed + 13u * warp));
        const uint instance = INSTANCE(turn, nth, cta, slot, seed);
        const uint position = warp * LANES + lane;
        const uint at0 = SHARED_ADDRESS(turn * PASSES + nth, slot, 0u); // x, shared
        const uint at1 = ADDRESS(instance, 0u); // y
        uint p1_r0 = 0u;
        uint p1_r1 = 0u;
        uint p2_r0 = 0u;
        if (item < SLOTS) {
            local_memory[SHARED_ADDRESS(turn * PASSES + nth, item, 0u)] = 3u; // x
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        switch (position) {
        case 0u: { // P0
            local_memory[at0] = 1u;
            break;
        }
        case 1u: { // P1
            p1_r0 = atomic_load_explicit((volatile __global atomic_uint*)&memory[at1], memory_order_acquire, memory_scope_device);
            atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_work_group);
            break;
        }
        case 2u: { // P2
            p2_r0 = atomic_fetch_max_explicit((volatile __global atomic_int*)&memory[at1], 4294967294u, memory_order_relaxed, memory_scope_device);
            results[RESULT(instance, 3u)] = p2_r0;
            break;
        }
        default: { break; }
        }
        if (cta == 0u) { barrier(CLK_LOCAL_MEM_FENCE); }
        switch (position) {
        case 0u: { // P0
            atomic_store_explicit((volatile __global atomic_uint*)&memory[at1], 1u, memory_order_release, memory_scope_device);
            break;
        }
        case 1u: { // P1
            p1_r1 = local_memory[at0];
            results[RESULT(instance, 1u)] = p1_r0;
            results[RESULT(instance, 2u)] = p1_r1;
            break;
        }
        default: { break; }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (cta == 0u && item < SLOTS) { results[RESULT(INSTANCE(turn, nth, cta, item, seed), 0u)] = local_memory[SHARED_ADDRESS(turn * PASSES + nth, item, 0u)]; }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

__kernel void count(const __global uint* const memory, const __global uint* const results,
                    volatile __global uint* const histogram) {
    const uint index = (uint)get_global_id(0);
    const uint value0 = results[RESULT(index, 0u)];
    const uint value1 = results[RESULT(index, 1u)];
    const uint value2 = results[RESULT(index, 2u)];
    const uint value3 = results[RESULT(index, 3u)];
    if ((value0 == 1u) && (value1 == 0u) && (value2 == 1u) && (value3 == 1u)) { atomic_add(&histogram[0], 1u); }
    uint hash = 0u;
    hash = (hash ^ value0) * 2654435761u;
    hash = (hash ^ value1) * 2654435761u;
    hash = (hash ^ value2) * 2654435761u;
    hash = (hash ^ value3) * 2654435761u;
    uint probe = 0u;
    for (; probe < ROWS; probe += 1u) {
        const uint row = 2u + (((hash >> 16u) + probe) & (ROWS - 1u)) * ROW_WORDS;
        uint owner = atomic_add(&histogram[row], 0u);
        if (owner == 0u) { owner = atomic_cmpxchg(&histogram[row], 0u, index + 1u); }
        if (owner == 0u) {
            histogram[row + 2u] = value0;
            histogram[row + 3u] = value1;
            histogram[row + 4u] = value2;
            histogram[row + 5u] = value3;
            owner = index + 1u;
        }
        if (owner == index + 1u || (value0 == results[RESULT((owner - 1u), 0u)] && value1 == results[RESULT((owner - 1u), 1u)] && value2 == results[RESULT((owner - 1u), 2u)] && value3 == results[RESULT((owner - 1u), 3u)])) {
            atomic_add(&histogram[row + 1u], 1u);
            break;
        }
    }
    if (probe == ROWS) { atomic_add(&histogram[1], 1u); }
}
// trial {"test":"shared","digest":"8ab83a9528bd6d7def56157a6e0f1bb291680e105cb39f8557c6447725f8b949","backend":"opencl","instances":64,"stress":false,"terms":["x","P1:r0","P1:r1","P2:r0"]}
