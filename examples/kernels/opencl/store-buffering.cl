// Each of two work-groups raises its flag and looks at the other's (Dekker): one of them sees the other's, if the
// fences are sequentially consistent.
// synth check: --grid 2 --expect 'saw[0] == 1 || saw[1] == 1'
kernel void sb_seq_cst(global atomic_int *flag, global int *saw) {
  int me = get_group_id(0);
  atomic_store_explicit(&flag[me], 1, memory_order_relaxed, memory_scope_device);
  atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_seq_cst, memory_scope_device);
  saw[me] = atomic_load_explicit(&flag[1 - me], memory_order_relaxed, memory_scope_device);
}
kernel void sb_acq_rel(global atomic_int *flag, global int *saw) {
  int me = get_group_id(0);
  atomic_store_explicit(&flag[me], 1, memory_order_relaxed, memory_scope_device);
  atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device);
  saw[me] = atomic_load_explicit(&flag[1 - me], memory_order_relaxed, memory_scope_device);
}
