// A lock taken by exchange, with a fence behind taking it and one before giving it back. Two work-groups add 1 to x
// under it.
// synth check: --grid 2 --expect 'x == 2'
kernel void spinlock_exch(global atomic_int *mutex, global int *x) {
  while (atomic_exchange_explicit(mutex, 1, memory_order_relaxed, memory_scope_device) != 0) {}
  atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device);
  *x += 1;
  atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device);
  atomic_exchange_explicit(mutex, 0, memory_order_relaxed, memory_scope_device);
}
