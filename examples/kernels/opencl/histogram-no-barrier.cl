// The histogram without a barrier between clearing and counting: a count may be cleared, or come to what nobody
// cleared.
// synth check: --block 2 --warp 1 --arg 'in=[1,0]' --arg 'bins=int[2]' --expect 'bins[0] == 1 && bins[1] == 1'
kernel void histogram_no_barrier(global const int *in, global atomic_int *bins) {
  local atomic_int own[2];
  int me = get_local_id(0);
  atomic_init(&own[me], 0);
  atomic_fetch_add_explicit(&own[in[me]], 1, memory_order_relaxed, memory_scope_work_group);
  barrier(CLK_LOCAL_MEM_FENCE);
  int found = atomic_load_explicit(&own[me], memory_order_relaxed, memory_scope_work_group);
  atomic_fetch_add_explicit(&bins[me], found, memory_order_relaxed, memory_scope_device);
}
