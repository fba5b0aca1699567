// A lock that is looked at until it is free, taken by compare-and-swap with acquire, given back by a store with
// release.
// synth check: --grid 2 --expect 'x == 2'
// synth check: --block 2 --warp 1 --expect 'x == 2'
kernel void spinlock_cas(global atomic_int *mutex, global int *x) {
  int free;
  do {
    while (atomic_load_explicit(mutex, memory_order_relaxed, memory_scope_device) != 0) {}
    free = 0;
  } while (!atomic_compare_exchange_strong_explicit(mutex, &free, 1, memory_order_acquire, memory_order_relaxed,
                                                    memory_scope_device));
  *x += 1;
  atomic_store_explicit(mutex, 0, memory_order_release, memory_scope_device);
}
