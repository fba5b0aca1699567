#include <metal_stdlib>
using namespace metal;

#if __METAL_VERSION__ >= 320
#define FENCE() atomic_thread_fence(mem_flags::mem_device, memory_order_seq_cst, thread_scope_device)
#else
#define FENCE()
#endif

static inline uint exchange_at(device atomic_uint* const cell, const uint value) {
    FENCE();
    const uint old = atomic_exchange_explicit(cell, value, memory_order_relaxed);
    FENCE();
    return old;
}

static inline uint add_at(device atomic_uint* const cell, const uint value) {
    FENCE();
    const uint old = atomic_fetch_add_explicit(cell, value, memory_order_relaxed);
    FENCE();
    return old;
}

#define thread thread_number // which is a word of the language, for memory of a thread's own

