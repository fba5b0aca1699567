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
#include <ctime>
#include <hip/hip_runtime.h>

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
#define WARM_UP memory[INSTANCES * LOCATIONS * STRIDE + 1u]
#define EXCHANGE(cell, value) __hip_atomic_exchange(&(cell), value, __ATOMIC_ACQ_REL, __HIP_MEMORY_SCOPE_AGENT)
#define ADD(cell, value) __hip_atomic_fetch_add(&(cell), value, __ATOMIC_ACQ_REL, __HIP_MEMORY_SCOPE_AGENT)

extern "C" __global__ void test(std::uint32_t* const memory) {
    const std::uint32_t group = blockIdx.x;
    const std::uint32_t item = threadIdx.x;
    const std::uint32_t seat = item / APART;
    const std::uint32_t instance = group * TOGETHER + seat % TOGETHER;
    const std::uint32_t thread = seat / TOGETHER;
    if (item % APART != 0u || instance >= INSTANCES) { return; }
    if (WARM_UP != 0u) { return; } // launched to be compiled
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

<parts/device.hip>
<parts/trial.cpp>

<parts/progress-launch.hip>
    test<<<GROUPS, GROUP_SIZE>>>(memory);
    check(hipGetLastError(), "launch");
    check(hipDeviceSynchronize(), "kernel");
    check(hipMemcpy(&finished, &FINISHED, sizeof finished, hipMemcpyDeviceToHost), "hipMemcpy");
    return finished;
}

<parts/progress-main.cpp>
    std::printf("three-threads.chunked.subgroup chunked.subgroup: terminated in all of %ld iterations\n", iterations);
    return 0;
}

const char TRIAL[] = "{\"test\":\"three-threads\",\"digest\":\"3697da9996d52ed7\",\"backend\":\"hip\",\"mapping\":\"chunked\",\"instances\":4,\"every_iteration\":false,\"placement\":\"subgroup\"";
