// sb. Usage: NAME [iterations]
// P0: st.relaxed.sys x, 1
// P0: ld.relaxed.sys r0, y
// P1: st.sc.sys y, 1
// P1: fence.sc.sys
// P1: ld.sc.sys r0, x
// exists (P0:r0 == 0 /\ P1:r0 == 0)

<parts/memory-opening.cpp>
<parts/device.cpp>
<parts/trial.cpp>

<parts/outcomes.cpp>

// From here on, what is of this test alone.

#define THREADS 2u
#define CTAS 2u
#define ROLES 2u
#define WARPS 1u
#define LANES 1u
#define SLOTS 64u
#define BLOCKS 4u
#define PASSES 1u
#define TURNS 4u
#define INSTANCES 256u
#define CTA_STEP 1u
#define TURN_STEP 2u
#define SHUFFLE 1u
#define SHUFFLE_BLOCKS 1u
#define SCATTER 0u
#define STRIPE 0u
#define STRIPES 3u
#define PERMUTE_LOCATIONS 0u
#define ROTATE 0u
#define CONFLICTS 0u
#define GROUPS 8u
#define GROUP_SIZE 64u
#define GLOBALS 2u
#define SHAREDS 0u
#define STRIDE 16u
#define SHARED_STRIDE 1u
#define SHARED_WORDS 1u
#define COUNTERS 8192u
#define SPIN 1000u
#define SCRATCH 8448u
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
#define WORDS 24832u
#define TERMS 2u
#define RESULT_WORDS 512u
#define ROWS 256u
#define ROW_WORDS 4u
#define HISTOGRAM_WORDS 1026u
<parts/addresses.h>

alignas(128) static std::uint32_t memory[WORDS];
[[maybe_unused]] static std::uint32_t results[RESULT_WORDS];
static std::uint32_t histogram[HISTOGRAM_WORDS];

static void reset(const std::uint32_t index) {
    memory[ADDRESS(index, 0u)] = 0u; // x
    memory[ADDRESS(index, 1u)] = 0u; // y
    memory[COUNTERS + index] = 0u;
}

static void thread0(const std::uint32_t seed, const std::uint32_t block) {
    std::uint32_t patience = SPIN;
    for (std::uint32_t next = 0u; next < SLOTS; ++next) {
        const std::uint32_t slot = PERMUTED(next, SLOTS, SHUFFLE * (seed + 0u));
        const std::uint32_t instance = block * SLOTS + slot;
        [[maybe_unused]] const std::uint32_t at0 = ADDRESS(instance, 0u); // x
        [[maybe_unused]] const std::uint32_t at1 = ADDRESS(instance, 1u); // y
        [[maybe_unused]] std::uint32_t p0_r0 = 0u;
        atomic(memory[COUNTERS + instance]).fetch_add(1u, std::memory_order_relaxed);
        while (patience > 0u && atomic(memory[COUNTERS + instance]).load(std::memory_order_relaxed) < THREADS) { patience -= 1u; }
        atomic(memory[at0]).store(1u, std::memory_order_relaxed);
        p0_r0 = atomic(memory[at1]).load(std::memory_order_relaxed);
        results[RESULT(instance, 0u)] = p0_r0;
    }
}

static void thread1(const std::uint32_t seed, const std::uint32_t block) {
    std::uint32_t patience = SPIN;
    for (std::uint32_t next = 0u; next < SLOTS; ++next) {
        const std::uint32_t slot = PERMUTED(next, SLOTS, SHUFFLE * (seed + 13u));
        const std::uint32_t instance = block * SLOTS + slot;
        [[maybe_unused]] const std::uint32_t at0 = ADDRESS(instance, 0u); // x
        [[maybe_unused]] const std::uint32_t at1 = ADDRESS(instance, 1u); // y
        [[maybe_unused]] std::uint32_t p1_r0 = 0u;
        atomic(memory[COUNTERS + instance]).fetch_add(1u, std::memory_order_relaxed);
        while (patience > 0u && atomic(memory[COUNTERS + instance]).load(std::memory_order_relaxed) < THREADS) { patience -= 1u; }
        atomic(memory[at1]).store(1u, std::memory_order_seq_cst);
        std::atomic_thread_fence(std::memory_order_seq_cst);
        p1_r0 = atomic(memory[at0]).load(std::memory_order_seq_cst);
        results[RESULT(instance, 1u)] = p1_r0;
    }
}

static void play(const std::uint32_t first, const std::uint32_t seed) {
    if (seed == 4294967295u) { return; } // launched to be compiled
    pin(seed + first);
    for (std::uint32_t turn = 0u; turn < BLOCKS; ++turn) {
        const std::uint32_t block = PERMUTED(turn, BLOCKS, SHUFFLE_BLOCKS * seed);
        switch ((first + ROTATE * turn) % THREADS) {
        case 0u: thread0(seed, block); break;
        case 1u: thread1(seed, block); break;
        }
    }
}

static void count(const std::uint32_t index) {
    const std::uint32_t value0 = results[RESULT(index, 0u)];
    const std::uint32_t value1 = results[RESULT(index, 1u)];
    if ((value0 == 0u) && (value1 == 0u)) { atomic(histogram[0]).fetch_add(1u, std::memory_order_relaxed); }
    std::uint32_t hash = 0u;
    hash = (hash ^ value0) * 2654435761u;
    hash = (hash ^ value1) * 2654435761u;
    std::uint32_t probe = 0u;
    for (; probe < ROWS; probe += 1u) {
        const std::uint32_t row = 2u + (((hash >> 16u) + probe) & (ROWS - 1u)) * ROW_WORDS;
        std::uint32_t owner = atomic(histogram[row]).load(std::memory_order_relaxed);
        if (owner == 0u) { owner = claim(histogram[row], index + 1u); }
        if (owner == 0u) {
            histogram[row + 2u] = value0;
            histogram[row + 3u] = value1;
            owner = index + 1u;
        }
        if (owner == index + 1u || (value0 == results[RESULT((owner - 1u), 0u)] && value1 == results[RESULT((owner - 1u), 1u)])) {
            atomic(histogram[row + 1u]).fetch_add(1u, std::memory_order_relaxed);
            break;
        }
    }
    if (probe == ROWS) { atomic(histogram[1]).fetch_add(1u, std::memory_order_relaxed); }
}

static void iterate(const std::uint32_t seed) {
    for (std::uint32_t index = 0u; index < INSTANCES; ++index) reset(index);
    std::vector<std::thread> threads;
    try {
        for (std::uint32_t first = 0u; first < THREADS; ++first) threads.emplace_back(play, first, seed);
    } catch (const std::system_error& error) {
        char what[200];
        std::snprintf(what, sizeof what, "cannot start 2 threads: %.99s", error.what());
        fail(what, 2);
    }
    for (auto& thread : threads) thread.join();
    std::fill_n(histogram, HISTOGRAM_WORDS, 0u);
    for (std::uint32_t index = 0u; index < INSTANCES; ++index) count(index);
}

<parts/memory-main.cpp>

const char TRIAL[] = "{\"test\":\"SB\",\"digest\":\"6bf44879f0291afa60147283a6ea7195e2fa90c00889b82815371c20d290f990\",\"backend\":\"cpp\",\"instances\":256,\"stress\":false,\"terms\":[\"P0:r0\",\"P1:r0\"]";
