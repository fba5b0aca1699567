// three-threads.chunked, mapping chunked. Usage: NAME [iterations]; a test that hangs does not come back.
// THREAD 0
// 0: Mem[0] = 1;
// THREAD 1
// 0: if (Mem[0] == 0) goto 0;
// 1: Mem[1] = 3;
// THREAD 2
// 0: if (Exch(Mem[1],2) == 3) goto END;
// 1: if (Mem[0] == 0) goto 1;

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <latch>
#include <system_error>
#include <thread>
#include <vector>

#define THREADS 3u
#define INSTANCES 4u
#define LOCATIONS 2u
#define STRIDE 32u
#define SIZE 5u
#define CELL(location) memory[(instance * LOCATIONS + location) * STRIDE]
#define FINISHED memory[INSTANCES * LOCATIONS * STRIDE]
#define EXCHANGE(cell, value) (cell).exchange(value, std::memory_order_acq_rel)
#define ADD(cell, value) (cell).fetch_add(value, std::memory_order_acq_rel)

alignas(128) static std::atomic<std::uint32_t> memory[(INSTANCES * LOCATIONS + 1u) * STRIDE];

static void test(const std::uint32_t group_id) {
    const std::uint32_t group = group_id;
    const std::uint32_t instance = group % INSTANCES;
    const std::uint32_t thread = group / INSTANCES;
    std::uint32_t pc = 0u;
    switch (thread) {
    case 0u: {
        while (pc != 1u) {
            switch (pc) {
            case 0u: { // Mem[0] = 1;
                EXCHANGE(CELL(0u), 1u); pc = 1u;
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
            case 0u: { // if (Mem[0] == 0) goto 0;
                pc = ADD(CELL(0u), 0u) == 0u ? 0u : 1u;
                break;
            }
            case 1u: { // Mem[1] = 3;
                EXCHANGE(CELL(1u), 3u); pc = 2u;
                break;
            }
            default: { break; }
            }
        }
        break;
    }
    case 2u: {
        while (pc != 2u) {
            switch (pc) {
            case 0u: { // if (Exch(Mem[1],2) == 3) goto END;
                pc = EXCHANGE(CELL(1u), 2u) == 3u ? 2u : 1u;
                break;
            }
            case 1u: { // if (Mem[0] == 0) goto 1;
                pc = ADD(CELL(0u), 0u) == 0u ? 1u : 2u;
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

static void set_up() {}

static std::uint32_t iterate() {
    for (auto& cell : memory) cell.store(0u, std::memory_order_relaxed);
    std::latch start(THREADS * INSTANCES);
    std::vector<std::thread> threads;
    try {
        for (std::uint32_t group = 0; group < THREADS * INSTANCES; ++group)
            threads.emplace_back([group, &start] { start.arrive_and_wait(); test(group); });
    } catch (const std::system_error& error) {
        std::fprintf(stderr, "cannot start %u threads: %s\n", THREADS * INSTANCES, error.what());
        std::_Exit(2); // the threads that did start wait for the others
    }
    for (auto& thread : threads) thread.join();
    return FINISHED.load();
}

int main(int argc, char** argv) {
    const long iterations = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 20;
    set_up();
    std::puts("ready");
    std::fflush(stdout);
    for (long i = 0; i < iterations; ++i) {
        const std::uint32_t finished = iterate(); // a test that hangs stays here
        if (finished != INSTANCES * SIZE) {
            std::fprintf(stderr, "threads were cut short: sum of counters %u, not %u\n", finished, INSTANCES * SIZE);
            return 3;
        }
        std::printf("iteration %ld terminated\n", i);
        std::fflush(stdout);
    }
    std::printf("three-threads.chunked chunked: terminated in all of %ld iterations\n", iterations);
    return 0;
}
