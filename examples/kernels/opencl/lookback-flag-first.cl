// Look-back whose sum is published behind its flag: who sees the flag may miss the sum.
// synth check: --grid 2 --expect 'sum[0] == 1 && sum[1] == 2'
kernel void lookback_flag_first(global atomic_int *next, global atomic_int *flag, global int *sum) {
  if (atomic_fetch_add_explicit(next, 1, memory_order_relaxed, memory_scope_device) == 0) {
    atomic_store_explicit(flag, 2, memory_order_release, memory_scope_device);
    sum[0] = 1;
  } else {
    while (atomic_load_explicit(flag, memory_order_acquire, memory_scope_device) != 2) {}
    sum[1] = sum[0] + 1;
  }
}
