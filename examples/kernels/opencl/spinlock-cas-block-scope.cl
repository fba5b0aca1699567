// The lock taken by compare-and-swap, with atomics of the work-group between work-groups: they are not atomic to each
// other.
// synth check: --grid 2 --expect 'x == 2'
// synth check: --block 2 --warp 1 --expect 'x == 2'
kernel void spinlock_cas_block_scope(global atomic_int *mutex, global int *x) {
  int free;
  do {
    while (atomic_load_explicit(mutex, memory_order_relaxed, memory_scope_work_group) != 0) {}
    free = 0;
  } while (!atomic_compare_exchange_strong_explicit(mutex, &free, 1, memory_order_acquire, memory_order_relaxed,
                                                    memory_scope_work_group));
  *x += 1;
  atomic_store_explicit(mutex, 0, memory_order_release, memory_scope_work_group);
}
