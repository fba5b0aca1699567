// A barrier in a branch that one work-item does not take: it waits for a flag that the other sets behind the barrier.
// synth check: --block 2 --warp 1
kernel void barrier_in_branch(global atomic_int *flag) {
  if (get_local_id(0) == 0) {
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_store_explicit(flag, 1, memory_order_relaxed, memory_scope_work_group);
  } else {
    while (atomic_load_explicit(flag, memory_order_relaxed, memory_scope_work_group) == 0) {}
  }
}
