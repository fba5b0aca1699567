// The barrier of all work-groups whose last one sets the count back by a plain store: each of the others has counted
// itself in behind its fence, which orders what is before it.
// synth check: --grid 3 --expect 'out[0] == 1 && out[1] == 1 && out[2] == 1'
kernel void grid_barrier_plain_reset(global atomic_uint *count, global atomic_int *sense, global int *x,
    global int *out) {
  int n = get_num_groups(0), me = get_group_id(0);
  x[me] = 1;
  atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device);
  if (atomic_fetch_add_explicit(count, 1, memory_order_relaxed, memory_scope_device) == n - 1) {
    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device);
    *(global uint *)count = 0;
    atomic_store_explicit(sense, 1, memory_order_release, memory_scope_device);
  } else {
    while (atomic_load_explicit(sense, memory_order_acquire, memory_scope_device) == 0) {}
  }
  out[me] = x[(me + 1) % n];
}
