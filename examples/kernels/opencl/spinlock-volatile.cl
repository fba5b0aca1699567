// A lock of volatile accesses in place of atomics: between seeing it free and taking it another work-item does the
// same.
// synth check: --grid 2 --expect 'x == 2'
kernel void spinlock_volatile(volatile global int *mutex, global int *x) {
  while (*mutex != 0) {}
  *mutex = 1;
  atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device);
  *x += 1;
  atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device);
  *mutex = 0;
}
