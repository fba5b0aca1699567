__device__ inline std::uint32_t claim(std::uint32_t* const row, const std::uint32_t value) {
    std::uint32_t old = 0u;
    __hip_atomic_compare_exchange_strong(row, &old, value, __ATOMIC_RELAXED, __ATOMIC_RELAXED,
                                         __HIP_MEMORY_SCOPE_AGENT);
    return old;
}

// A value that clang does not know.
__device__ inline std::uint32_t hidden(std::uint32_t value) {
    asm volatile("" : "+v"(value));
    return value;
}

