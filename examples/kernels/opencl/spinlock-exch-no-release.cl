// The lock taken by exchange, with a fence behind taking it alone: giving it back releases nothing.
// synth check: --grid 2 --expect 'x == 2'
kernel void spinlock_exch_no_release(global atomic_int *mutex, global int *x) {
  while (atomic_exchange_explicit(mutex, 1, memory_order_relaxed, memory_scope_device) != 0) {}
  atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device);
  *x += 1;
  atomic_exchange_explicit(mutex, 0, memory_order_relaxed, memory_scope_device);
}
