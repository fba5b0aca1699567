// Look-back, work-groups in the order in which they draw a number: the second waits for the sum of the first.
// synth check: --grid 2 --expect 'sum[0] == 1 && sum[1] == 2'
kernel void lookback_dynamic(global atomic_int *next, global atomic_int *flag, global int *sum) {
  if (atomic_fetch_add_explicit(next, 1, memory_order_relaxed, memory_scope_device) == 0) {
    sum[0] = 1;
    atomic_store_explicit(flag, 2, memory_order_release, memory_scope_device);
  } else {
    while (atomic_load_explicit(flag, memory_order_acquire, memory_scope_device) != 2) {}
    sum[1] = sum[0] + 1;
  }
}
