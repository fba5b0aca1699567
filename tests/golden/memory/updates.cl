// updates. Usage: python run_opencl.py NAME.cl [iterations]
// P0: atom.acq_rel.sys.cas r0, x, 5, 7
// P0: atom.relaxed.sys.exch r1, x, 8
// P0: red.release.sys.add x, 2
// P0: st y, r0
// P1: ld r0, y
// P1: and r1, r0, -2147483648
// P1: add t0, &x, r1
// P1: ld.relaxed.sys r2, [t0]
// P1: ble r2, 7, LC0
// P1: div t1, r2, 2
// P1: st y, t1
// P1: goto LC1
// P1: LC0:
// P1: LC2:
// P1: add r0, r0, 1
// P1: blt r0, 3, LC2
// P1: LC1:
// locations [y;]
// filter (x != -4)
// exists (x == 10 /\ (P1:r2 == 8 \/ ~(P0:r0 == 5)))

#define THREADS 2u
#define CTAS 2u
#define ROLES 2u
#define WARPS 1u
#define LANES 1u
#define SLOTS 32u
#define BLOCKS 2u
#define PASSES 1u
#define TURNS 2u
#define INSTANCES 64u
#define CTA_STEP 2u
#define TURN_STEP 1u
#define SHUFFLE 1u
#define SHUFFLE_BLOCKS 1u
#define SCATTER 0u
#define STRIPE 0u
#define STRIPES 1u
#define PERMUTE_LOCATIONS 0u
#define ROTATE 0u
#define CONFLICTS 0u
#define GROUPS 4u
#define GROUP_SIZE 32u
#define GLOBALS 2u
#define SHAREDS 0u
#define STRIDE 32u
#define SHARED_STRIDE 1u
#define SHARED_WORDS 1u
#define COUNTERS 4096u
#define SPIN 0u
#define SCRATCH 4160u
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
#define WORDS 20544u
#define TERMS 4u
#define RESULT_WORDS 256u
#define ROWS 256u
#define ROW_WORDS 6u
#define HISTOGRAM_WORDS 1538u
<parts/addresses.h>

__kernel void reset(volatile __global uint* const memory) {
    const uint index = (uint)get_global_id(0);
    memory[ADDRESS(index, 0u)] = 5u; // x
    memory[ADDRESS(index, 1u)] = 1u; // y
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
        const uint at0 = ADDRESS(instance, 0u); // x
        const uint at1 = ADDRESS(instance, 1u); // y
        uint p0_r0 = 0u;
        uint p0_r1 = 0u;
        uint p1_r0 = 0u;
        uint p1_r1 = 0u;
        uint p1_r2 = 0u;
        uint p1_t0 = 0u;
        uint p1_t1 = 0u;
        switch (position) {
        case 0u: { // P0
            { uint expected = 5u; atomic_compare_exchange_strong_explicit((volatile __global atomic_uint*)&memory[at0], &expected, 7u, memory_order_acq_rel, memory_order_acquire, memory_scope_device); p0_r0 = expected; }
            p0_r1 = atomic_exchange_explicit((volatile __global atomic_uint*)&memory[at0], 8u, memory_order_relaxed, memory_scope_device);
            atomic_fetch_add_explicit((volatile __global atomic_uint*)&memory[at0], 2u, memory_order_release, memory_scope_device);
            memory[at1] = p0_r0;
            results[RESULT(instance, 2u)] = p0_r0;
            break;
        }
        case 1u: { // P1
            p1_r0 = memory[at1];
            p1_r1 = p1_r0 & 2147483648u;
            p1_t0 = at0 + p1_r1;
            p1_r2 = atomic_load_explicit((volatile __global atomic_uint*)&memory[p1_t0], memory_order_relaxed, memory_scope_device);
            if ((int)(p1_r2) > (int)(7u)) {
                p1_t1 = 2u == 0u ? 0u : 2u == 4294967295u ? 0u - p1_r2 : (uint)((int)(p1_r2) / (int)(2u));
                memory[at1] = p1_t1;
            } else {
                do {
                    p1_r0 = p1_r0 + 1u;
                } while ((int)(p1_r0) < (int)(3u));
            }
            results[RESULT(instance, 1u)] = p1_r2;
            break;
        }
        default: { break; }
        }
    }
}

__kernel void count(const __global uint* const memory, const __global uint* const results,
                    volatile __global uint* const histogram) {
    const uint index = (uint)get_global_id(0);
    const uint value0 = memory[ADDRESS(index, 0u)];
    const uint value1 = results[RESULT(index, 1u)];
    const uint value2 = results[RESULT(index, 2u)];
    const uint value3 = memory[ADDRESS(index, 1u)];
    if ((value0 != 4294967292u) && ((value0 == 10u) && ((value1 == 8u) || (!(value2 == 5u))))) { atomic_add(&histogram[0], 1u); }
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
        if (owner == index + 1u || (value0 == memory[ADDRESS((owner - 1u), 0u)] && value1 == results[RESULT((owner - 1u), 1u)] && value2 == results[RESULT((owner - 1u), 2u)] && value3 == memory[ADDRESS((owner - 1u), 1u)])) {
            atomic_add(&histogram[row + 1u], 1u);
            break;
        }
    }
    if (probe == ROWS) { atomic_add(&histogram[1], 1u); }
}
// trial {"test":"updates","digest":"c70169383d1a434aab89d37874774b6b7650431ece2ec9e07a92b2e104c84539","backend":"opencl","instances":64,"stress":false,"terms":["x","P1:r2","P0:r0","y"]}
