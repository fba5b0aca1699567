// mutex.round-robin, mapping round-robin. Usage: NAME [iterations]; a test that hangs does not come back.
// THREAD 0
// 0: if (Exch(Mem[0],1) == 1) goto 0;
// 1: Mem[0] = 0;
// THREAD 1
// 0: if (Exch(Mem[0],1) == 1) goto 0;
// 1: Mem[0] = 0;

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <latch>
#include <system_error>
#include <thread>
#include <vector>
#if __has_include(<sys/utsname.h>)
#include <sys/utsname.h>
#endif

#define THREADS 2u
#define INSTANCES 4u
#define LOCATIONS 1u
#define STRIDE 32u
#define SIZE 4u
#define CELL(location) memory[(instance * LOCATIONS + location) * STRIDE]
#define FINISHED memory[INSTANCES * LOCATIONS * STRIDE]
#define WARM_UP memory[INSTANCES * LOCATIONS * STRIDE + 1u]
#define EXCHANGE(cell, value) (cell).exchange(value, std::memory_order_acq_rel)
#define ADD(cell, value) (cell).fetch_add(value, std::memory_order_acq_rel)

alignas(128) static std::atomic<std::uint32_t> memory[(INSTANCES * LOCATIONS + 1u) * STRIDE];

static void test(const std::uint32_t group_id) {
    const std::uint32_t group = group_id;
    const std::uint32_t instance = group / THREADS;
    const std::uint32_t thread = group % THREADS;
    if (WARM_UP.load(std::memory_order_relaxed) != 0u) { return; } // launched to be compiled
    std::uint32_t pc = 0u;
    switch (thread) {
    case 0u: {
        while (pc != 2u) {
            switch (pc) {
            case 0u: { // if (Exch(Mem[0],1) == 1) goto 0;
                pc = EXCHANGE(CELL(0u), 1u) == 1u ? 0u : 1u;
                break;
            }
            case 1u: { // Mem[0] = 0;
                EXCHANGE(CELL(0u), 0u); pc = 2u;
                break;
            }
            default: { break; }
            }
        }
        break;
    }
    case 1u: {
        while (pc != 2u) {
            switch (pc) {
            case 0u: { // if (Exch(Mem[0],1) == 1) goto 0;
                pc = EXCHANGE(CELL(0u), 1u) == 1u ? 0u : 1u;
                break;
            }
            case 1u: { // Mem[0] = 0;
                EXCHANGE(CELL(0u), 0u); pc = 2u;
                break;
            }
            default: { break; }
            }
        }
        break;
    }
    default: { break; }
    }
    ADD(FINISHED, pc);
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

static void set_up() {}

static std::uint32_t iterate(const bool warm_up) {
    for (auto& cell : memory) cell.store(0u, std::memory_order_relaxed);
    if (warm_up) WARM_UP.store(1u, std::memory_order_relaxed);
    std::latch start(THREADS * INSTANCES);
    std::vector<std::thread> threads;
    try {
        for (std::uint32_t group = 0; group < THREADS * INSTANCES; ++group)
            threads.emplace_back([group, &start] { start.arrive_and_wait(); test(group); });
    } catch (const std::system_error& error) {
        // The threads that did start wait for the others.
        char what[200];
        std::snprintf(what, sizeof what, "cannot start %u threads: %.99s", THREADS * INSTANCES, error.what());
        fail(what, 2);
    }
    for (auto& thread : threads) thread.join();
    return FINISHED.load();
}

extern const char TRIAL[]; // the end of this file
int main(int argc, char** argv) {
    trial = TRIAL;
    const long iterations = asked = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 20;
    set_up();
    if (iterations > 0) iterate(true);
    begin();
    for (long i = 0; i < iterations; ++i) {
        const std::uint32_t finished = iterate(false); // a test that hangs stays here
        if (finished != INSTANCES * SIZE) {
            char error[80];
            const char* const what = "threads were cut short: sum of counters %u, not %u";
            std::snprintf(error, sizeof error, what, finished, INSTANCES * SIZE);
            fail(error, 3);
        }
        std::printf("iteration %ld terminated\n", i);
        std::fflush(stdout);
    }
    if (asked > 0) {
        identify();
        std::printf(",\"outcomes\":\"");
        for (long i = 0; i < iterations; ++i) std::printf("T");
        std::puts("\"}");
    }
    std::printf("mutex.round-robin round-robin: terminated in all of %ld iterations\n", iterations);
    return 0;
}

const char TRIAL[] = "{\"test\":\"mutex\",\"digest\":\"75b3023f0bfbca24\",\"backend\":\"cpp\",\"mapping\":\"round-robin\",\"instances\":4,\"every_iteration\":false";
