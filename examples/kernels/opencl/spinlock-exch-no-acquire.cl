// The lock taken by exchange, with a fence before giving it back alone: who takes it next acquires nothing.
// synth check: --grid 2 --expect 'x == 2'
kernel void spinlock_exch_no_acquire(global atomic_int *mutex, global int *x) {
  while (atomic_exchange_explicit(mutex, 1, memory_order_relaxed, memory_scope_device) != 0) {}
  *x += 1;
  atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device);
  atomic_exchange_explicit(mutex, 0, memory_order_relaxed, memory_scope_device);
}
