// mutex.plain, mapping plain. Usage: NAME [iterations]; a test that hangs does not come back.
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
#include <latch>
#include <system_error>
#include <thread>
#include <vector>

#define THREADS 2u
#define INSTANCES 1u
#define LOCATIONS 1u
#define STRIDE 32u
#define SIZE 4u
#define CELL(location) memory[(instance * LOCATIONS + location) * STRIDE]
#define FINISHED memory[INSTANCES * LOCATIONS * STRIDE]
#define EXCHANGE(cell, value) (cell).exchange(value, std::memory_order_acq_rel)
#define ADD(cell, value) (cell).fetch_add(value, std::memory_order_acq_rel)

alignas(128) static std::atomic<std::uint32_t> memory[(INSTANCES * LOCATIONS + 1u) * STRIDE];

static void test(const std::uint32_t group_id) {
    const std::uint32_t group = group_id;
    const std::uint32_t instance = 0u;
    const std::uint32_t thread = group;
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
    std::printf("mutex.plain plain: terminated in all of %ld iterations\n", iterations);
    return 0;
}
