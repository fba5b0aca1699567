// Initialisation by the first work-group that comes: the others wait until it is done.
// synth check: --grid 2 --expect 'out[0] == 7 && out[1] == 7'
kernel void once(global atomic_int *state, global int *value, global int *out) {
  int seen = 0;
  if (atomic_compare_exchange_strong_explicit(state, &seen, 1, memory_order_relaxed, memory_order_relaxed,
                                              memory_scope_device)) {
    *value = 7;
    atomic_store_explicit(state, 2, memory_order_release, memory_scope_device);
  }
  while (atomic_load_explicit(state, memory_order_acquire, memory_scope_device) != 2) {}
  out[get_group_id(0)] = *value;
}
