// A counter: atomic, plain, volatile, and atomic for the threads of one block alone.
// synth check: --grid 2 --expect 'count == 2'
extern "C" __global__ void counter(int *count) { atomicAdd(count, 1); }
extern "C" __global__ void counter_plain(int *count) { *count += 1; }
extern "C" __global__ void counter_volatile(volatile int *count) { *count = *count + 1; }
extern "C" __global__ void counter_block_scope(int *count) { atomicAdd_block(count, 1); }
