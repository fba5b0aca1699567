// The reader-writer lock without a fence between what each side says and what it looks at: each may miss the other.
// synth check: --grid 2 --expect 'out[0] == out[1]'
kernel void rw_lock_unfenced(global atomic_int *writer, global atomic_int *readers, global int *x, global int *y,
                    global int *out) {
  if (get_group_id(0) == 0) {
    atomic_store_explicit(writer, 1, memory_order_relaxed, memory_scope_device);
    while (atomic_load_explicit(readers, memory_order_acquire, memory_scope_device) != 0) {}
    *x = 1;
    *y = 1;
    atomic_store_explicit(writer, 0, memory_order_release, memory_scope_device);
  } else {
    while (true) {
      atomic_fetch_add_explicit(readers, 1, memory_order_relaxed, memory_scope_device);
      if (atomic_load_explicit(writer, memory_order_acquire, memory_scope_device) == 0) break;
      atomic_fetch_sub_explicit(readers, 1, memory_order_relaxed, memory_scope_device);
    }
    out[0] = *x;
    out[1] = *y;
    atomic_fetch_sub_explicit(readers, 1, memory_order_release, memory_scope_device);
  }
}
