// A histogram: bins in local memory are cleared, counted into, and added to those of all work-groups, with barriers
// between.
// synth check: --block 2 --warp 1 --arg 'in=[1,1]' --arg 'bins=int[2]' --expect 'bins[0] == 0 && bins[1] == 2'
kernel void histogram(global const int *in, global atomic_int *bins) {
  local atomic_int own[2];
  int me = get_local_id(0);
  atomic_init(&own[me], 0);
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_fetch_add_explicit(&own[in[me]], 1, memory_order_relaxed, memory_scope_work_group);
  barrier(CLK_LOCAL_MEM_FENCE);
  int found = atomic_load_explicit(&own[me], memory_order_relaxed, memory_scope_work_group);
  atomic_fetch_add_explicit(&bins[me], found, memory_order_relaxed, memory_scope_device);
}
