// A counter: atomic, plain, volatile, and atomic for the work-items of one work-group alone.
// synth check: --grid 2 --expect 'count == 2'
kernel void counter(global atomic_int *count) {
  atomic_fetch_add_explicit(count, 1, memory_order_relaxed, memory_scope_device);
}
kernel void counter_plain(global int *count) { *count += 1; }
kernel void counter_volatile(volatile global int *count) { *count = *count + 1; }
kernel void counter_block_scope(global atomic_int *count) {
  atomic_fetch_add_explicit(count, 1, memory_order_relaxed, memory_scope_work_group);
}
