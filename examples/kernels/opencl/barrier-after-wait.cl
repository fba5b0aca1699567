// The flag is set before the barrier, to which both work-items come.
// synth check: --block 2 --warp 1
kernel void barrier_after_wait(global atomic_int *flag) {
  if (get_local_id(0) == 0) {
    atomic_store_explicit(flag, 1, memory_order_relaxed, memory_scope_work_group);
  } else {
    while (atomic_load_explicit(flag, memory_order_relaxed, memory_scope_work_group) == 0) {}
  }
  barrier(CLK_LOCAL_MEM_FENCE);
}
