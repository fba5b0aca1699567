// A lock that is looked at until it is free, taken by compare-and-swap with acquire, given back by a store with release.
// synth check: --grid 2 --expect 'x == 2'
// synth check: --block 2 --warp 1 --expect 'x == 2'
extern "C" __global__ void spinlock_cas(int *mutex, int *x) {
  int free;
  do {
    while (__nv_atomic_load_n(mutex, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE) != 0) {}
    free = 0;
  } while (!__nv_atomic_compare_exchange_n(mutex, &free, 1, false, __NV_ATOMIC_ACQUIRE, __NV_ATOMIC_RELAXED,
                                           __NV_THREAD_SCOPE_DEVICE));
  *x += 1;
  __nv_atomic_store_n(mutex, 0, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
}
