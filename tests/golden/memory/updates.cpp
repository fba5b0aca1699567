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

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <system_error>
#include <thread>
#include <vector>
#ifdef __linux__
#include <sched.h>
#endif
#if __has_include(<sys/utsname.h>)
#include <sys/utsname.h>
#endif

[[maybe_unused]] static volatile std::uint32_t& plain(std::uint32_t& cell) { return cell; }

static std::atomic_ref<std::uint32_t> atomic(std::uint32_t& cell) { return std::atomic_ref<std::uint32_t>(cell); }

static std::uint32_t claim(std::uint32_t& cell, const std::uint32_t value) {
    std::uint32_t old = 0u;
    atomic(cell).compare_exchange_strong(old, value, std::memory_order_relaxed, std::memory_order_relaxed);
    return old;
}

// The calling thread on a core of its own, as far as there are cores, or else two threads may share one for long.
static void pin([[maybe_unused]] const std::uint32_t number) {
#ifdef __linux__
    static const cpu_set_t allowed = [] {
        cpu_set_t set;
        CPU_ZERO(&set);
        sched_getaffinity(0, sizeof set, &set);
        return set;
    }();
    int left = CPU_COUNT(&allowed) == 0 ? -1 : static_cast<int>(number) % CPU_COUNT(&allowed);
    for (int core = 0; left >= 0 && core < CPU_SETSIZE; ++core) {
        if (!CPU_ISSET(core, &allowed) || left-- > 0) continue;
        cpu_set_t mine;
        CPU_ZERO(&mine);
        CPU_SET(core, &mine);
        sched_setaffinity(0, sizeof mine, &mine);
    }
#endif
}

static const char* device() {
    static char text[256];
    const unsigned cores = std::thread::hardware_concurrency();
#if __has_include(<sys/utsname.h>)
    utsname name;
    if (uname(&name) == 0) {
        std::snprintf(text, sizeof text, "%.99s %.99s, %u cores", name.sysname, name.machine, cores);
        return text;
    }
#endif
    std::snprintf(text, sizeof text, "%u cores", cores);
    return text;
}

static const char* driver() { return ""; }

static const char* compiler() {
#if defined(__clang__)
    return __VERSION__;
#elif defined(__GNUC__)
    return "g++ " __VERSION__;
#else
    return "";
#endif
}

static const char* trial = ""; // which test this is, the beginning of an object of JSON
static long asked = 0;         // iterations; nothing is said where there are none

static void quote(const char* const name, const char* text) {
    std::printf(",\"%s\":\"", name);
    for (; *text != '\0'; ++text) {
        const unsigned c = static_cast<unsigned char>(*text);
        std::printf(c < 32 || c > 126 || c == '"' || c == '\\' ? "\\u%04x" : "%c", c);
    }
    std::printf("\"");
}

static void identify() {
    std::printf("%s,\"iterations\":%ld", trial, asked);
    quote("device", device());
    quote("driver", driver());
    quote("compiler", compiler());
    char date[32];
    const std::time_t now = std::time(nullptr);
    std::strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
    quote("date", date);
}

static void begin() {
    if (asked > 0) {
        std::printf("{\"began\":");
        identify();
        std::puts("}}");
    }
    std::puts("ready");
    std::fflush(stdout);
}

[[noreturn]] static void fail(const char* const error, const int code) {
    std::fprintf(stderr, "%s\n", error);
    if (asked > 0) {
        identify();
        quote("error", error);
        std::puts("}");
        std::fflush(stdout);
    }
    std::_Exit(code);
}

struct Outcome {
    std::vector<std::int32_t> values;
    std::uint64_t count;
};
static std::vector<Outcome> totals; // of all launches, by value
static std::uint64_t others = 0;

static void add(std::vector<Outcome>& outcomes, const Outcome& seen) {
    auto at = outcomes.begin();
    while (at != outcomes.end() && at->values < seen.values) ++at;
    if (at != outcomes.end() && at->values == seen.values) at->count += seen.count;
    else outcomes.insert(at, seen);
}

// The histogram of a launch: its rows, and the instances that found none.
static void report(const long iteration, const std::uint32_t* const histogram, const std::uint32_t words,
                   const std::uint32_t row_words) {
    std::vector<Outcome> rows;
    for (const std::uint32_t* row = histogram + 2; row != histogram + words; row += row_words)
        if (row[1] != 0u) add(rows, {{row + 2, row + row_words}, row[1]});
    std::printf("iteration %ld [[", iteration);
    for (const Outcome& row : rows) {
        std::printf("%s[%u", &row == rows.data() ? "" : ", ", static_cast<unsigned>(row.count));
        for (const std::int32_t value : row.values) std::printf(", %u", static_cast<unsigned>(value));
        std::printf("]");
        add(totals, row);
    }
    std::printf("], %u]\n", histogram[1]);
    std::fflush(stdout);
    others += histogram[1];
}

static void finish() {
    if (asked < 1) return;
    identify();
    std::printf(",\"outcomes\":[");
    for (const Outcome& row : totals) {
        std::printf("%s[[", &row == totals.data() ? "" : ",");
        for (const std::int32_t& value : row.values) std::printf("%s%d", &value == row.values.data() ? "" : ",", value);
        std::printf("],%llu]", static_cast<unsigned long long>(row.count));
    }
    std::printf("],\"other\":%llu,\"launches\":%ld,\"hung\":false}\n", static_cast<unsigned long long>(others), asked);
}

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
#define PERMUTED(x, n, key) (((x) * (2u * (key) + 1u) + 11u * (key)) & ((n) - 1u))
#define MET(turn, cta, s, seed) ((PERMUTED(turn, TURNS, SCATTER * ((seed) + 7u * (cta))) + STRIPE * (cta) * (1u + (s) % STRIPES)) & (TURNS - 1u))
#define INSTANCE(turn, nth, cta, s, seed) (PERMUTED(MET(turn, cta, s, seed) * PASSES + (nth), BLOCKS, SHUFFLE_BLOCKS * (seed)) * SLOTS + (s))
#define BANK(b, s) (CONFLICTS * ((b) & 1u) * ((s) & 31u))
#define CELL(i, location) (PERMUTED(i, INSTANCES, PERMUTE_LOCATIONS * 209u * (location)))
#define ADDRESS(i, location) ((CELL(i, location) * GLOBALS + (location)) * STRIDE + BANK((i) / SLOTS, i))
#define SHARED_ADDRESS(b, s, location) (((s) * SHAREDS + (location)) * SHARED_STRIDE + BANK(b, s))
#define RESULT(i, term) ((term) * INSTANCES + (i))

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

extern const char TRIAL[]; // the end of this file
int main(int argc, char** argv) {
    trial = TRIAL;
    const long iterations = asked = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 20;
    if (iterations > 0) iterate(4294967295u);
    begin();
    for (long iteration = 0; iteration < iterations; ++iteration) {
        iterate(static_cast<std::uint32_t>(iteration));
        report(iteration, histogram, HISTOGRAM_WORDS, ROW_WORDS);
    }
    finish();
    return 0;
}

const char TRIAL[] = "{\"test\":\"updates\",\"digest\":\"c70169383d1a434aab89d37874774b6b7650431ece2ec9e07a92b2e104c84539\",\"backend\":\"cpp\",\"instances\":64,\"stress\":true,\"terms\":[\"x\",\"P1:r2\",\"P0:r0\",\"y\"]";
