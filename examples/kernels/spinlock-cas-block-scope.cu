// The lock taken by compare-and-swap, with atomics of the block between blocks: they are not atomic to each other.
// synth check: --grid 2 --expect 'x == 2'
// synth check: --block 2 --warp 1 --expect 'x == 2'
extern "C" __global__ void spinlock_cas_block_scope(int *mutex, int *x) {
  int free;
  do {
    while (__nv_atomic_load_n(mutex, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_BLOCK) != 0) {}
    free = 0;
  } while (!__nv_atomic_compare_exchange_n(mutex, &free, 1, false, __NV_ATOMIC_ACQUIRE, __NV_ATOMIC_RELAXED,
                                           __NV_THREAD_SCOPE_BLOCK));
  *x += 1;
  __nv_atomic_store_n(mutex, 0, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_BLOCK);
}
