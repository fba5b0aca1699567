// mutex.plain, mapping plain. Usage: timeout 20 NAME [iterations]; a test that hangs does not come back.
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
#define INSTANCES 1u
#define LOCATIONS 1u
#define STRIDE 32u
#define SIZE 4u
#define CELL(location) memory[(instance * LOCATIONS + location) * STRIDE]
#define FINISHED memory[INSTANCES * LOCATIONS * STRIDE]
#define WARM_UP memory[INSTANCES * LOCATIONS * STRIDE + 1u]
#define EXCHANGE(cell, value) atomic_exchange(&(cell), value)
#define ADD(cell, value) atomic_add(&(cell), value)

extern "C" __global__ void test(std::uint32_t* const memory) {
    const std::uint32_t group = blockIdx.x;
    const std::uint32_t instance = 0u;
    const std::uint32_t thread = group;
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

static const char* device() {
    static cudaDeviceProp properties;
    int number = 0;
    if (properties.name[0] != '\0') return properties.name; // after an error nothing can be asked
    if (cudaGetDevice(&number) != cudaSuccess || cudaGetDeviceProperties(&properties, number) != cudaSuccess)
        return "no CUDA device";
    return properties.name;
}

static const char* driver() {
    static char text[32];
    int version = 0;
    if (cudaDriverGetVersion(&version) != cudaSuccess || version == 0) return "";
    std::snprintf(text, sizeof text, "CUDA %d.%d", version / 1000, version % 1000 / 10);
    return text;
}

static const char* compiler() {
    static char text[64];
    std::snprintf(text, sizeof text, "nvcc %d.%d.%d", __CUDACC_VER_MAJOR__, __CUDACC_VER_MINOR__, __CUDACC_VER_BUILD__);
    return text;
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

static void check(const cudaError_t error, const char* const what) {
    if (error == cudaSuccess) return;
    if (error == cudaErrorLaunchTimeout) std::_Exit(124);
    char text[200];
    std::snprintf(text, sizeof text, "%s: %.150s", what, cudaGetErrorString(error));
    fail(text, 2);
}

static std::uint32_t* memory;
static const std::size_t bytes = sizeof(std::uint32_t) * (std::size_t{INSTANCES} * LOCATIONS + 1u) * STRIDE;

static void set_up() {
    cudaFuncAttributes attributes; // loads the code, which is else done at the first launch
    check(cudaFuncGetAttributes(&attributes, (const void*)test), "kernel");
    check(cudaMalloc(&memory, bytes), "cudaMalloc");
}

static std::uint32_t iterate(const bool warm_up) {
    std::uint32_t finished = 0;
    check(cudaMemset(memory, 0, bytes), "cudaMemset");
    if (warm_up) check(cudaMemset(&WARM_UP, 1, sizeof WARM_UP), "cudaMemset");
    test<<<THREADS * INSTANCES, 1>>>(memory);
    check(cudaGetLastError(), "launch");
    check(cudaDeviceSynchronize(), "kernel");
    check(cudaMemcpy(&finished, &FINISHED, sizeof finished, cudaMemcpyDeviceToHost), "cudaMemcpy");
    return finished;
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
    std::printf("mutex.plain plain: terminated in all of %ld iterations\n", iterations);
    return 0;
}

const char TRIAL[] = "{\"test\":\"mutex\",\"digest\":\"75b3023f0bfbca24\",\"backend\":\"cuda\",\"mapping\":\"plain\",\"instances\":1,\"every_iteration\":false";
