// cl-barrier-local. Usage: NAME [iterations]; each prints its outcomes as the other languages' programs do.
// Needs clang 19 or later.
// P0: st x, 1
// P0: bar.local-fence.sync 0
// P1: bar.local-fence.sync 0
// P1: ld r0, x
// exists (P1:r0 == 0)

<parts/memory-opening.hip>
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
#define GLOBALS 0u
#define SHAREDS 1u
#define STRIDE 32u
#define SHARED_STRIDE 1u
#define SHARED_WORDS 32u
#define COUNTERS 0u
#define SPIN 64u
#define SCRATCH 16384u
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
#define WORDS 32768u
#define TERMS 1u
#define RESULT_WORDS 16384u
#define ROWS 256u
#define ROW_WORDS 3u
#define HISTOGRAM_WORDS 770u
<parts/addresses.h>

<parts/memory-helpers.hip>
__global__ void reset(std::uint32_t* const memory) {
    const std::uint32_t index = blockIdx.x * blockDim.x + threadIdx.x;
    memory[COUNTERS + index] = 0u;
}

__global__ void run(std::uint32_t* const memory, std::uint32_t* const results, const std::uint32_t seed) {
    [[maybe_unused]] __shared__ std::uint32_t local_memory[SHARED_WORDS];
    asm volatile("" : : "v"(&local_memory[0]) : "memory");
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
        [[maybe_unused]] const std::uint32_t at0 = SHARED_ADDRESS(turn * PASSES + nth, slot, 0u); // x, shared
        [[maybe_unused]] std::uint32_t p1_r0 = 0u;
        if (item < SLOTS) {
            local_memory[SHARED_ADDRESS(turn * PASSES + nth, item, 0u)] = 0u; // x
        }
        __syncthreads();
        if (position == 0u || position == 1u) {
            __hip_atomic_fetch_add(&memory[COUNTERS + instance], 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
            while (patience > 0u && __hip_atomic_load(&memory[COUNTERS + instance], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT) < THREADS) { patience -= 1u; }
        }
        switch (position) {
        case 0u: { // P0
            MARK("begin P0:0"); local_memory[at0] = 1u; MARK("end P0:0");
            break;
        }
        case 1u: { // P1
            break;
        }
        default: { break; }
        }
        if (cta == 0u) { MARK("begin P0:1 P1:0"); __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup", "local"); __builtin_amdgcn_s_barrier(); __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup", "local"); MARK("end P0:1 P1:0"); }
        switch (position) {
        case 0u: { // P0
            break;
        }
        case 1u: { // P1
            MARK("begin P1:1"); p1_r0 = local_memory[at0]; MARK("end P1:1");
            results[RESULT(instance, 0u)] = p1_r0;
            break;
        }
        default: { break; }
        }
        __syncthreads();
        __syncthreads();
    }
}

__global__ void count(const std::uint32_t* const memory, const std::uint32_t* const results,
                      std::uint32_t* const histogram) {
    const std::uint32_t index = blockIdx.x * blockDim.x + threadIdx.x;
    const std::uint32_t value0 = results[RESULT(index, 0u)];
    if (value0 == 0u) { __hip_atomic_fetch_add(&histogram[0], 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT); }
    std::uint32_t hash = 0u;
    hash = (hash ^ value0) * 2654435761u;
    std::uint32_t probe = 0u;
    for (; probe < ROWS; probe += 1u) {
        const std::uint32_t row = 2u + (((hash >> 16u) + probe) & (ROWS - 1u)) * ROW_WORDS;
        std::uint32_t owner = __hip_atomic_load(&histogram[row], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
        if (owner == 0u) { owner = claim(&histogram[row], index + 1u); }
        if (owner == 0u) {
            histogram[row + 2u] = value0;
            owner = index + 1u;
        }
        if (owner == index + 1u || (value0 == results[RESULT((owner - 1u), 0u)])) {
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
const char TRIAL[] = "{\"test\":\"cl-barrier-local\",\"digest\":\"5e0a30fb0318cafaef9c5bd54a7a684cacfde0b9f31159d396ccd666e0a62f0a\",\"backend\":\"hip\",\"instances\":16384,\"stress\":false,\"terms\":[\"P1:r0\"]";
