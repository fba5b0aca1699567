// Message passing from one sub-group to another of the same work-group: its scope is wide enough.
// synth check: --block 2 --warp 1 --expect 'out == 2'
kernel void mp_one_block(global int *data, global atomic_int *flag, global int *out) {
  if (get_local_id(0) == 0) {
    *data = 1;
    atomic_store_explicit(flag, 1, memory_order_release, memory_scope_work_group);
  } else {
    while (atomic_load_explicit(flag, memory_order_acquire, memory_scope_work_group) == 0) {}
    *out = 1 + *data;
  }
}
