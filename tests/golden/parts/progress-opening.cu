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

