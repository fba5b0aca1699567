// mutex.round-robin.workgroup, mapping round-robin.workgroup. Usage: timeout 20 NAME [iterations]; a test that hangs does not come back.
// THREAD 0
// 0: if (Exch(Mem[0],1) == 1) goto 0;
// 1: Mem[0] = 0;
// THREAD 1
// 0: if (Exch(Mem[0],1) == 1) goto 0;
// 1: Mem[0] = 0;

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

#define THREADS 2u
#define INSTANCES 4u
#define LOCATIONS 1u
#define STRIDE 32u
#define SIZE 4u
#define GROUPS 2u
#define GROUP_SIZE 256u
#define TOGETHER 2u
#define APART 64u
#define CELL(location) memory[(instance * LOCATIONS + location) * STRIDE]
#define FINISHED memory[INSTANCES * LOCATIONS * STRIDE]
#define EXCHANGE(cell, value) atomic_exchange(&(cell), value)
#define ADD(cell, value) atomic_add(&(cell), value)

extern "C" __global__ void test(std::uint32_t* const memory) {
    const std::uint32_t group = blockIdx.x;
    const std::uint32_t item = threadIdx.x;
    const std::uint32_t seat = item / APART;
    const std::uint32_t instance = group * TOGETHER + seat / THREADS;
    const std::uint32_t thread = seat % THREADS;
    if (item % APART != 0u || instance >= INSTANCES) { return; }
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
    std::printf("mutex.round-robin.workgroup round-robin.workgroup: terminated in all of %ld iterations\n", iterations);
    return 0;
}
