// mutex.round-robin, mapping round-robin. Usage: timeout 20 NAME [iterations]; a test that hangs does not come back.
// THREAD 0
// 0: if (Exch(Mem[0],1) == 1) goto 0;
// 1: Mem[0] = 0;
// THREAD 1
// 0: if (Exch(Mem[0],1) == 1) goto 0;
// 1: Mem[0] = 0;

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <hip/hip_runtime.h>

#define THREADS 2u
#define INSTANCES 4u
#define LOCATIONS 1u
#define STRIDE 32u
#define SIZE 4u
#define CELL(location) memory[(instance * LOCATIONS + location) * STRIDE]
#define FINISHED memory[INSTANCES * LOCATIONS * STRIDE]
#define WARM_UP memory[INSTANCES * LOCATIONS * STRIDE + 1u]
#define EXCHANGE(cell, value) __hip_atomic_exchange(&(cell), value, __ATOMIC_ACQ_REL, __HIP_MEMORY_SCOPE_AGENT)
#define ADD(cell, value) __hip_atomic_fetch_add(&(cell), value, __ATOMIC_ACQ_REL, __HIP_MEMORY_SCOPE_AGENT)

extern "C" __global__ void test(std::uint32_t* const memory) {
    const std::uint32_t group = blockIdx.x;
    const std::uint32_t instance = group / THREADS;
    const std::uint32_t thread = group % THREADS;
    if (WARM_UP != 0u) { return; } // launched to be compiled
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

<parts/device.hip>
<parts/trial.cpp>

<parts/progress-launch.hip>
    test<<<THREADS * INSTANCES, 1>>>(memory);
    check(hipGetLastError(), "launch");
    check(hipDeviceSynchronize(), "kernel");
    check(hipMemcpy(&finished, &FINISHED, sizeof finished, hipMemcpyDeviceToHost), "hipMemcpy");
    return finished;
}

<parts/progress-main.cpp>
    std::printf("mutex.round-robin round-robin: terminated in all of %ld iterations\n", iterations);
    return 0;
}

const char TRIAL[] = "{\"test\":\"mutex\",\"digest\":\"75b3023f0bfbca24\",\"backend\":\"hip\",\"mapping\":\"round-robin\",\"instances\":4,\"every_iteration\":false";
