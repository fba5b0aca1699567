// Initialisation by the first work-group that comes, for which the others do not wait.
// synth check: --grid 2 --expect 'out[0] == 7 && out[1] == 7'
kernel void once_not_waited_for(global atomic_int *state, global int *value, global int *out) {
  int seen = 0;
  if (atomic_compare_exchange_strong_explicit(state, &seen, 1, memory_order_relaxed, memory_order_relaxed,
                                              memory_scope_device)) {
    *value = 7;
    atomic_store_explicit(state, 2, memory_order_release, memory_scope_device);
  }
  out[get_group_id(0)] = *value;
}
