// updates. Usage: NAME [iterations]
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

<parts/memory-opening.cpp>
<parts/device.cpp>
<parts/trial.cpp>

<parts/outcomes.cpp>

// From here on, what is of this test alone.

#define THREADS 2u
#define CTAS 2u
#define ROLES 4u
#define WARPS 1u
#define LANES 1u
#define SLOTS 32u
#define BLOCKS 2u
#define PASSES 1u
#define TURNS 2u
#define INSTANCES 64u
#define CTA_STEP 1u
#define TURN_STEP 4u
#define SHUFFLE 1u
#define SHUFFLE_BLOCKS 1u
#define SCATTER 0u
#define STRIPE 0u
#define STRIPES 1u
#define PERMUTE_LOCATIONS 0u
#define ROTATE 0u
#define CONFLICTS 0u
#define GROUPS 8u
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
#define STRESS 2u
#define STRESSERS 4u
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

alignas(128) static std::uint32_t memory[WORDS];
[[maybe_unused]] static std::uint32_t results[RESULT_WORDS];
static std::uint32_t histogram[HISTOGRAM_WORDS];

static void reset(const std::uint32_t index) {
    memory[ADDRESS(index, 0u)] = 5u; // x
    memory[ADDRESS(index, 1u)] = 1u; // y
    memory[COUNTERS + index] = 0u;
}

static void thread0(const std::uint32_t seed, const std::uint32_t block) {
    for (std::uint32_t next = 0u; next < SLOTS; ++next) {
        const std::uint32_t slot = PERMUTED(next, SLOTS, SHUFFLE * (seed + 0u));
        const std::uint32_t instance = block * SLOTS + slot;
        [[maybe_unused]] const std::uint32_t at0 = ADDRESS(instance, 0u); // x
        [[maybe_unused]] const std::uint32_t at1 = ADDRESS(instance, 1u); // y
        [[maybe_unused]] std::uint32_t p0_r0 = 0u;
        [[maybe_unused]] std::uint32_t p0_r1 = 0u;
        { std::uint32_t expected = 5u; atomic(memory[at0]).compare_exchange_strong(expected, 7u, std::memory_order_acq_rel, std::memory_order_acquire); p0_r0 = expected; }
        p0_r1 = atomic(memory[at0]).exchange(8u, std::memory_order_relaxed);
        atomic(memory[at0]).fetch_add(2u, std::memory_order_release);
        plain(memory[at1]) = p0_r0;
        results[RESULT(instance, 2u)] = p0_r0;
    }
}

static void thread1(const std::uint32_t seed, const std::uint32_t block) {
    for (std::uint32_t next = 0u; next < SLOTS; ++next) {
        const std::uint32_t slot = PERMUTED(next, SLOTS, SHUFFLE * (seed + 13u));
        const std::uint32_t instance = block * SLOTS + slot;
        [[maybe_unused]] const std::uint32_t at0 = ADDRESS(instance, 0u); // x
        [[maybe_unused]] const std::uint32_t at1 = ADDRESS(instance, 1u); // y
        [[maybe_unused]] std::uint32_t p1_r0 = 0u;
        [[maybe_unused]] std::uint32_t p1_r1 = 0u;
        [[maybe_unused]] std::uint32_t p1_r2 = 0u;
        [[maybe_unused]] std::uint32_t p1_t0 = 0u;
        [[maybe_unused]] std::uint32_t p1_t1 = 0u;
        p1_r0 = plain(memory[at1]);
        p1_r1 = p1_r0 & 2147483648u;
        p1_t0 = at0 + p1_r1;
        p1_r2 = atomic(memory[p1_t0]).load(std::memory_order_relaxed);
        if (std::int32_t(p1_r2) > std::int32_t(7u)) {
            p1_t1 = 2u == 0u ? 0u : 2u == 4294967295u ? 0u - p1_r2 : std::uint32_t(std::int32_t(p1_r2) / std::int32_t(2u));
            plain(memory[at1]) = p1_t1;
        } else {
            do {
                p1_r0 = p1_r0 + 1u;
            } while (std::int32_t(p1_r0) < std::int32_t(3u));
        }
        results[RESULT(instance, 1u)] = p1_r2;
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

static void stress(const std::uint32_t stresser, const std::uint32_t seed) {
    const std::uint32_t number = stresser + seed;
    std::uint32_t loaded = 0u;
    for (std::uint32_t rounds = 0u; rounds < STRESS_ROUNDS; rounds += 1u) {
        plain(memory[SCRATCH + ((((number + loaded) * 2654435761u) >> 8u) & (SCRATCH_WORDS - 1u))]) = rounds;
        loaded += plain(memory[SCRATCH + ((((number + loaded) * 2654435761u) >> 8u) & (SCRATCH_WORDS - 1u))]) & 63u;
        loaded += 1u;
    }
    plain(memory[SCRATCH + ((((number + loaded) * 2654435761u) >> 8u) & (SCRATCH_WORDS - 1u))]) = loaded;
}

static void count(const std::uint32_t index) {
    const std::uint32_t value0 = memory[ADDRESS(index, 0u)];
    const std::uint32_t value1 = results[RESULT(index, 1u)];
    const std::uint32_t value2 = results[RESULT(index, 2u)];
    const std::uint32_t value3 = memory[ADDRESS(index, 1u)];
    if ((value0 != 4294967292u) && ((value0 == 10u) && ((value1 == 8u) || (!(value2 == 5u))))) { atomic(histogram[0]).fetch_add(1u, std::memory_order_relaxed); }
    std::uint32_t hash = 0u;
    hash = (hash ^ value0) * 2654435761u;
    hash = (hash ^ value1) * 2654435761u;
    hash = (hash ^ value2) * 2654435761u;
    hash = (hash ^ value3) * 2654435761u;
    std::uint32_t probe = 0u;
    for (; probe < ROWS; probe += 1u) {
        const std::uint32_t row = 2u + (((hash >> 16u) + probe) & (ROWS - 1u)) * ROW_WORDS;
        std::uint32_t owner = atomic(histogram[row]).load(std::memory_order_relaxed);
        if (owner == 0u) { owner = claim(histogram[row], index + 1u); }
        if (owner == 0u) {
            histogram[row + 2u] = value0;
            histogram[row + 3u] = value1;
            histogram[row + 4u] = value2;
            histogram[row + 5u] = value3;
            owner = index + 1u;
        }
        if (owner == index + 1u || (value0 == memory[ADDRESS((owner - 1u), 0u)] && value1 == results[RESULT((owner - 1u), 1u)] && value2 == results[RESULT((owner - 1u), 2u)] && value3 == memory[ADDRESS((owner - 1u), 1u)])) {
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
        const std::uint32_t stressers = STRESS - VARY * (((seed + 1u) * 2654435761u) >> 16u) % (STRESS / 2u + 1u);
        for (std::uint32_t stresser = 0u; stresser < stressers; ++stresser)
            threads.emplace_back(stress, stresser, seed);
    } catch (const std::system_error& error) {
        char what[200];
        std::snprintf(what, sizeof what, "cannot start 4 threads: %.99s", error.what());
        fail(what, 2);
    }
    for (auto& thread : threads) thread.join();
    std::fill_n(histogram, HISTOGRAM_WORDS, 0u);
    for (std::uint32_t index = 0u; index < INSTANCES; ++index) count(index);
}

<parts/memory-main.cpp>

const char TRIAL[] = "{\"test\":\"updates\",\"digest\":\"c70169383d1a434aab89d37874774b6b7650431ece2ec9e07a92b2e104c84539\",\"backend\":\"cpp\",\"instances\":64,\"stress\":true,\"terms\":[\"x\",\"P1:r2\",\"P0:r0\",\"y\"]";
