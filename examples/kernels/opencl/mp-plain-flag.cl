// Message passing by a plain flag between fences, sequentially consistent ones and others: the flag races, and no fence
// is ordered by it.
// synth check: --grid 2 --expect 'out == 0 || out == 2'
kernel void mp_plain_flag(global int *data, global int *flag, global int *out) {
  if (get_group_id(0) == 0) {
    *data = 1;
    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_seq_cst, memory_scope_device);
    *flag = 1;
  } else if (*flag == 1) {
    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_seq_cst, memory_scope_device);
    *out = 1 + *data;
  }
}
kernel void mp_plain_flag_acq_rel(global int *data, global int *flag, global int *out) {
  if (get_group_id(0) == 0) {
    *data = 1;
    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device);
    *flag = 1;
  } else if (*flag == 1) {
    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device);
    *out = 1 + *data;
  }
}
