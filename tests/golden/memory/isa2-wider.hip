// isa2-wider. Usage: NAME [iterations]; each prints its outcomes as the other languages' programs do.
// P0: st x, 1
// P0: st.release.cta y, 1
// P1: ld.acquire.cta r0, y
// P1: st.release.gpu z, 1
// P2: ld.acquire.gpu r1, z
// P2: ld r2, x
// filter (P1:r0 == 1 /\ P2:r1 == 1)
// exists (P2:r2 == 0)

<parts/memory-opening.hip>
#define THREADS 3u
#define CTAS 2u
#define ROLES 2u
#define WARPS 2u
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
#define GROUP_SIZE 64u
#define GLOBALS 3u
#define SHAREDS 0u
#define STRIDE 32u
#define SHARED_STRIDE 1u
#define SHARED_WORDS 1u
#define COUNTERS 1572864u
#define SPIN 64u
#define SCRATCH 1589248u
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
#define WORDS 1605632u
#define TERMS 3u
#define RESULT_WORDS 49152u
#define ROWS 256u
#define ROW_WORDS 5u
#define HISTOGRAM_WORDS 1282u
<parts/addresses.h>

<parts/memory-helpers.hip>
__global__ void reset(std::uint32_t* const memory) {
    const std::uint32_t index = blockIdx.x * blockDim.x + threadIdx.x;
    memory[ADDRESS(index, 0u)] = 0u; // x
    memory[ADDRESS(index, 1u)] = 0u; // y
    memory[ADDRESS(index, 2u)] = 0u; // z
    memory[COUNTERS + index] = 0u;
}

__global__ void run(std::uint32_t* const memory, std::uint32_t* const results, const std::uint32_t seed) {
    [[maybe_unused]] __shared__ std::uint32_t local_memory[SHARED_WORDS];
    if (seed == 4294967295u) { return; } // launched to be compiled
    const std::uint32_t group = blockIdx.x;
    const std::uint32_t item = threadIdx.x;
    const std::uint32_t role = group / CTA_STEP % ROLES;
    const std::uint32_t turn = group / TURN_STEP % TURNS;
    std::uint32_t patience = SPIN;
    #pragma unroll 1
    for (std::uint32_t nth = 0u; nth < PASSES; nth += 1u) {
        const std::uint32_t cta = (role + ROTATE * nth) % CTAS;
        const std::uint32_t warp = cta * WARPS + (item / (LANES * SLOTS) + ROTATE * (nth / CTAS)) % WARPS;
        const std::uint32_t lane = (item + ROTATE * (nth / (CTAS * WARPS))) % LANES;
        const std::uint32_t slot = PERMUTED(item / LANES % SLOTS, SLOTS, SHUFFLE * (seed + 13u * warp));
        const std::uint32_t instance = INSTANCE(turn, nth, cta, slot, seed);
        const std::uint32_t position = warp * LANES + lane;
        [[maybe_unused]] const std::uint32_t at0 = ADDRESS(instance, 0u); // x
        [[maybe_unused]] const std::uint32_t at1 = ADDRESS(instance, 1u); // y
        [[maybe_unused]] const std::uint32_t at2 = ADDRESS(instance, 2u); // z
        [[maybe_unused]] std::uint32_t p1_r0 = 0u;
        [[maybe_unused]] std::uint32_t p2_r1 = 0u;
        [[maybe_unused]] std::uint32_t p2_r2 = 0u;
        if (position == 0u || position == 1u || position == 2u) {
            __hip_atomic_fetch_add(&memory[COUNTERS + instance], 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
            while (patience > 0u && __hip_atomic_load(&memory[COUNTERS + instance], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT) < THREADS) { patience -= 1u; }
        }
        switch (position) {
        case 0u: { // P0
            MARK("begin P0:0"); memory[at0] = 1u; MARK("end P0:0");
            MARK("begin P0:1"); __hip_atomic_store(&memory[at1], 1u, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_WORKGROUP); MARK("end P0:1");
            break;
        }
        case 1u: { // P1
            MARK("begin P1:0"); p1_r0 = __hip_atomic_load(&memory[at1], __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_WORKGROUP); MARK("end P1:0");
            MARK("begin P1:1"); __hip_atomic_store(&memory[at2], 1u, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT); MARK("end P1:1");
            results[RESULT(instance, 0u)] = p1_r0;
            break;
        }
        case 2u: { // P2
            MARK("begin P2:0"); p2_r1 = __hip_atomic_load(&memory[at2], __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT); MARK("end P2:0");
            MARK("begin P2:1"); p2_r2 = memory[at0]; MARK("end P2:1");
            results[RESULT(instance, 1u)] = p2_r1;
            results[RESULT(instance, 2u)] = p2_r2;
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
    const std::uint32_t value1 = results[RESULT(index, 1u)];
    const std::uint32_t value2 = results[RESULT(index, 2u)];
    if (((value0 == 1u) && (value1 == 1u)) && (value2 == 0u)) { __hip_atomic_fetch_add(&histogram[0], 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT); }
    std::uint32_t hash = 0u;
    hash = (hash ^ value0) * 2654435761u;
    hash = (hash ^ value1) * 2654435761u;
    hash = (hash ^ value2) * 2654435761u;
    std::uint32_t probe = 0u;
    for (; probe < ROWS; probe += 1u) {
        const std::uint32_t row = 2u + (((hash >> 16u) + probe) & (ROWS - 1u)) * ROW_WORDS;
        std::uint32_t owner = __hip_atomic_load(&histogram[row], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
        if (owner == 0u) { owner = claim(&histogram[row], index + 1u); }
        if (owner == 0u) {
            histogram[row + 2u] = value0;
            histogram[row + 3u] = value1;
            histogram[row + 4u] = value2;
            owner = index + 1u;
        }
        if (owner == index + 1u || (value0 == results[RESULT((owner - 1u), 0u)] && value1 == results[RESULT((owner - 1u), 1u)] && value2 == results[RESULT((owner - 1u), 2u)])) {
            __hip_atomic_fetch_add(&histogram[row + 1u], 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
            break;
        }
    }
    if (probe == ROWS) { __hip_atomic_fetch_add(&histogram[1], 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT); }
}

<parts/device.hip>
<parts/trial.cpp>

<parts/outcomes.cpp>

<parts/memory-main.hip>
const char TRIAL[] = "{\"test\":\"isa2-wider\",\"digest\":\"e34d20c3f924d4fbd133f2cadf9db13f8125b43ff3dd71ae78597c5f30327bcd\",\"backend\":\"hip\",\"instances\":16384,\"stress\":false,\"terms\":[\"P1:r0\",\"P2:r1\",\"P2:r2\"]";
