// sb. Usage: NAME [iterations]
// P0: st.relaxed.sys x, 1
// P0: ld.relaxed.sys r0, y
// P1: st.sc.sys y, 1
// P1: fence.sc.sys
// P1: ld.sc.sys r0, x
// exists (P0:r0 == 0 /\ P1:r0 == 0)

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

const char TRIAL[] = "{\"test\":\"SB\",\"digest\":\"6bf44879f0291afa60147283a6ea7195e2fa90c00889b82815371c20d290f990\",\"backend\":\"cpp\",\"instances\":256,\"stress\":false,\"terms\":[\"P0:r0\",\"P1:r0\"]";
