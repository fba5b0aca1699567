// mutex.plain, mapping plain. Usage: python run_metal.py NAME.metal; a test that hangs does not come back.
// THREAD 0
// 0: if (Exch(Mem[0],1) == 1) goto 0;
// 1: Mem[0] = 0;
// THREAD 1
// 0: if (Exch(Mem[0],1) == 1) goto 0;
// 1: Mem[0] = 0;

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

#define THREADS 2u
#define INSTANCES 1u
#define LOCATIONS 1u
#define STRIDE 32u
#define SIZE 4u
#define CELL(location) memory[(instance * LOCATIONS + location) * STRIDE]
#define FINISHED memory[INSTANCES * LOCATIONS * STRIDE]
#define WARM_UP memory[INSTANCES * LOCATIONS * STRIDE + 1u]
#define EXCHANGE(cell, value) exchange_at(&(cell), value)
#define ADD(cell, value) add_at(&(cell), value)

kernel void test(device atomic_uint* const memory [[buffer(0)]],
                 const uint group_id [[threadgroup_position_in_grid]],
                 const uint item_id [[thread_position_in_threadgroup]]) {
    const uint group = group_id;
    const uint instance = 0u;
    const uint thread = group;
    if (atomic_load_explicit(&WARM_UP, memory_order_relaxed) != 0u) { return; } // launched to be compiled
    uint pc = 0u;
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
// trial {"test":"mutex","digest":"75b3023f0bfbca24","backend":"metal","mapping":"plain","instances":1,"every_iteration":false}
