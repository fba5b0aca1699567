// The CUDA runtime as far as the generated programs need it: a thread of a launch is one of the CPU, all at once.
// FAKE_CUDA in the environment names what fails: load, launch, warm-up and timeout (as by a display's watchdog, the
// first and the third time that the host waits), cut (loops).
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <pthread.h>

#define __CUDACC_VER_MAJOR__ 0
#define __CUDACC_VER_MINOR__ 0
#define __CUDACC_VER_BUILD__ 0
#define __device__
#define __global__
#define __constant__ static
#define __noinline__

enum cudaError_t { cudaSuccess = 0, cudaErrorInvalidConfiguration = 9, cudaErrorInsufficientDriver = 35, cudaErrorLaunchTimeout = 702 };
enum cudaMemcpyKind { cudaMemcpyDeviceToHost };
struct cudaFuncAttributes {};
struct cudaDeviceProp { char name[256]; };
struct Index { std::uint32_t x; };
inline thread_local Index blockIdx, threadIdx, blockDim;

namespace emulated {
void ended();
inline cudaError_t last = cudaSuccess;
constexpr std::uint32_t SHARED_BYTES = 1u << 16;      // of a block, in the arena of all
alignas(64) inline unsigned char arena[128 * SHARED_BYTES]; // an address in shared memory is a place in here

inline bool fails(const char* const what) {
    const char* const given = std::getenv("FAKE_CUDA");
    return given != nullptr && std::strcmp(given, what) == 0;
}

template <typename Kernel> struct Thread {
    const Kernel* kernel;
    std::uint32_t number, size;
    pthread_t id;
};

template <typename Kernel> void* run(void* const given) {
    const auto& thread = *static_cast<Thread<Kernel>*>(given);
    blockIdx.x = thread.number / thread.size, threadIdx.x = thread.number % thread.size, blockDim.x = thread.size;
    (*thread.kernel)();
    return nullptr;
}

template <typename Kernel> void launch(const std::uint32_t groups, const std::uint32_t size, const Kernel kernel) {
    static Thread<Kernel> threads[4096];
    if (fails("launch") || size > 1024 || groups * size > 4096) { last = cudaErrorInvalidConfiguration; return; }
    for (std::uint32_t number = 0; number < groups * size; ++number) {
        threads[number] = {&kernel, number, size, {}};
        if (pthread_create(&threads[number].id, nullptr, run<Kernel>, &threads[number])) std::abort();
    }
    for (std::uint32_t number = 0; number < groups * size; ++number) pthread_join(threads[number].id, nullptr);
    ended();
}

inline std::uint32_t load(std::uint32_t* cell) { return __atomic_load_n(cell, __ATOMIC_SEQ_CST); }
inline void store(std::uint32_t* cell, std::uint32_t value) { __atomic_store_n(cell, value, __ATOMIC_SEQ_CST); }
inline std::uint32_t exch(std::uint32_t* cell, std::uint32_t value) { return __atomic_exchange_n(cell, value, __ATOMIC_SEQ_CST); }
inline std::uint32_t add(std::uint32_t* cell, std::uint32_t value) { return __atomic_fetch_add(cell, value, __ATOMIC_SEQ_CST); }
inline std::uint32_t cas(std::uint32_t* cell, std::uint32_t old, std::uint32_t value) {
    __atomic_compare_exchange_n(cell, &old, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    return old;
}
} // namespace emulated

inline std::uint32_t atomicAdd(std::uint32_t* cell, std::uint32_t value) { return emulated::add(cell, value); }
inline std::uint32_t atomicCAS(std::uint32_t* cell, std::uint32_t old, std::uint32_t value) { return emulated::cas(cell, old, value); }
inline std::uint32_t atomicExch(std::uint32_t* cell, std::uint32_t value) { return emulated::exch(cell, value); }
inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline std::uint64_t __cvta_generic_to_global(const void* pointer) { return (std::uint64_t)pointer; }
inline std::uint64_t __cvta_generic_to_shared(const void* pointer) { return (const unsigned char*)pointer - emulated::arena; }
#include "asynchronous.h"
inline void __syncthreads() { emulated::instruction("barrier.sync 0, %0", 0, {blockDim.x}); }

inline const char* cudaGetErrorString(const cudaError_t error) {
    return error == cudaErrorInsufficientDriver ? "CUDA driver version is insufficient for CUDA runtime version" : "invalid configuration argument";
}
inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes*, const void*) { return emulated::fails("load") ? cudaErrorInsufficientDriver : cudaSuccess; }
inline cudaError_t cudaGetDevice(int* number) { *number = 0; return cudaSuccess; }
inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
    const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
    std::strcpy(properties->name, visible != nullptr && std::strcmp(visible, "1") == 0 ? "Fake Old" : "Fake New");
    return cudaSuccess;
}
inline cudaError_t cudaDriverGetVersion(int* version) { *version = 13000; return cudaSuccess; }
inline cudaError_t cudaGetLastError() { return emulated::last; }
inline cudaError_t finished() {
    static int waits = 0;
    const bool late = (++waits == 1 && emulated::fails("warm-up")) || (waits > 2 && emulated::fails("timeout"));
    return late ? cudaErrorLaunchTimeout : cudaSuccess;
}
inline cudaError_t cudaDeviceSynchronize() { return finished(); }
template <typename T> cudaError_t cudaMalloc(T** pointer, std::size_t size) { *pointer = (T*)std::malloc(size); return cudaSuccess; }
inline cudaError_t cudaMemset(void* pointer, int value, std::size_t size) { std::memset(pointer, value, size); return cudaSuccess; }
inline cudaError_t cudaMemcpy(void* to, const void* from, std::size_t size, cudaMemcpyKind) {
    std::memcpy(to, from, size);
    if (emulated::fails("cut")) --*(std::uint32_t*)to;
    return finished();
}
