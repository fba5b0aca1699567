// Message passing by a store that releases and, behind it, a relaxed one to the same flag; and the same with the
// relaxed one to another flag, of which the release says nothing.
// synth check: --grid 2 --expect 'out == 0 || out == 2'
kernel void mp_release_then_relaxed(global int *data, global atomic_int *flag, global int *out) {
  if (get_group_id(0) == 0) {
    *data = 1;
    atomic_store_explicit(flag, 1, memory_order_release, memory_scope_device);
    atomic_store_explicit(flag, 2, memory_order_relaxed, memory_scope_device);
  } else if (atomic_load_explicit(flag, memory_order_acquire, memory_scope_device) == 2) {
    *out = 1 + *data;
  }
}
kernel void mp_release_elsewhere(global int *data, global atomic_int *flag, global atomic_int *other, global int *out) {
  if (get_group_id(0) == 0) {
    *data = 1;
    atomic_store_explicit(other, 1, memory_order_release, memory_scope_device);
    atomic_store_explicit(flag, 2, memory_order_relaxed, memory_scope_device);
  } else if (atomic_load_explicit(flag, memory_order_acquire, memory_scope_device) == 2) {
    *out = 1 + *data;
  }
}
