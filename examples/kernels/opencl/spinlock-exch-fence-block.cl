// The lock taken by exchange, with fences of the work-group between work-groups: too narrow a scope.
// synth check: --grid 2 --expect 'x == 2'
// synth check: --block 2 --warp 1 --expect 'x == 2'
kernel void spinlock_exch_fence_block(global atomic_int *mutex, global int *x) {
  while (atomic_exchange_explicit(mutex, 1, memory_order_relaxed, memory_scope_device) != 0) {}
  atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_work_group);
  *x += 1;
  atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_work_group);
  atomic_exchange_explicit(mutex, 0, memory_order_relaxed, memory_scope_device);
}
