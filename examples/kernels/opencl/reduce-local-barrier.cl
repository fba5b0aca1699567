// The sum by the last work-group, with a barrier behind the count that orders local memory alone: it does not pass on
// what the count has seen.
// synth check: --grid 2 --block 2 --warp 1 --arg 'in=[1,2,3,4]' --expect 'out == 10'
kernel void reduce_local_barrier(global const int *in, global int *part, global atomic_uint *done, global int *out) {
  local int sum[2];
  local bool last;
  int me = get_local_id(0);
  sum[me] = in[2 * get_group_id(0) + me];
  barrier(CLK_LOCAL_MEM_FENCE);
  if (me == 0) {
    part[get_group_id(0)] = sum[0] + sum[1];
    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device);
    last = atomic_fetch_add_explicit(done, 1, memory_order_relaxed, memory_scope_device) == get_num_groups(0) - 1;
    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (last && me == 1) *out = part[0] + part[1];
}
