// three-threads.chunked.subgroup, mapping chunked.subgroup. Usage: timeout 20 NAME [iterations]; a test that hangs does not come back.
// THREAD 0
// 0: Mem[0] = 1;
// THREAD 1
// 0: if (Mem[0] == 0) goto 0;
// 1: Mem[1] = 3;
// THREAD 2
// 0: if (Exch(Mem[1],2) == 3) goto END;
// 1: if (Mem[0] == 0) goto 1;

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

__device__ inline std::uint32_t atomic_exchange(std::uint32_t* const cell, const std::uint32_t value) {
    std::uint32_t old;
    asm volatile("atom.acq_rel.gpu.global.exch.b32 %0, [%1], %2;"
                 : "=r"(old) : "l"(__cvta_generic_to_global(cell)), "r"(value) : "memory");
    return old;
}

__device__ inline std::uint32_t atomic_add(std::uint32_t* const cell, const std::uint32_t value) {
    std::uint32_t old;
    asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], %2;"
                 : "=r"(old) : "l"(__cvta_generic_to_global(cell)), "r"(value) : "memory");
    return old;
}

#define THREADS 3u
#define INSTANCES 4u
#define LOCATIONS 2u
#define STRIDE 32u
#define SIZE 5u
#define GROUPS 2u
#define GROUP_SIZE 6u
#define TOGETHER 2u
#define APART 1u
#define CELL(location) memory[(instance * LOCATIONS + location) * STRIDE]
#define FINISHED memory[INSTANCES * LOCATIONS * STRIDE]
#define EXCHANGE(cell, value) atomic_exchange(&(cell), value)
#define ADD(cell, value) atomic_add(&(cell), value)

extern "C" __global__ void test(std::uint32_t* const memory) {
    const std::uint32_t group = blockIdx.x;
    const std::uint32_t item = threadIdx.x;
    const std::uint32_t seat = item / APART;
    const std::uint32_t instance = group * TOGETHER + seat % TOGETHER;
    const std::uint32_t thread = seat / TOGETHER;
    if (item % APART != 0u || instance >= INSTANCES) { return; }
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

static void check(const cudaError_t error, const char* const what) {
    if (error == cudaSuccess) return;
    std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
    std::_Exit(error == cudaErrorLaunchTimeout ? 124 : 2);
}

static std::uint32_t* memory;
static const std::size_t bytes = sizeof(std::uint32_t) * (std::size_t{INSTANCES} * LOCATIONS + 1u) * STRIDE;

static void set_up() {
    cudaFuncAttributes attributes; // loads the code, which is else done at the first launch
    check(cudaFuncGetAttributes(&attributes, (const void*)test), "kernel");
    check(cudaMalloc(&memory, bytes), "cudaMalloc");
}

static std::uint32_t iterate() {
    std::uint32_t finished = 0;
    check(cudaMemset(memory, 0, bytes), "cudaMemset");
    test<<<GROUPS, GROUP_SIZE>>>(memory);
    check(cudaGetLastError(), "launch");
    check(cudaDeviceSynchronize(), "kernel");
    check(cudaMemcpy(&finished, &FINISHED, sizeof finished, cudaMemcpyDeviceToHost), "cudaMemcpy");
    return finished;
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
    std::printf("three-threads.chunked.subgroup chunked.subgroup: terminated in all of %ld iterations\n", iterations);
    return 0;
}
