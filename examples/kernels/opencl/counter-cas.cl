// A counter with a limit, by compare-and-swap until nobody has come between.
// synth check: --grid 2 --arg limit=1 --expect 'count == 1'
kernel void counter_cas(global atomic_int *count, int limit) {
  int old = atomic_load_explicit(count, memory_order_relaxed, memory_scope_device);
  while (old < limit) {
    if (atomic_compare_exchange_strong_explicit(count, &old, old + 1, memory_order_relaxed, memory_order_relaxed,
                                                memory_scope_device))
      break;
  }
}
