// The lock taken by exchange without fences: the exchange is relaxed, and x may be stale.
// synth check: --grid 2 --expect 'x == 2'
kernel void spinlock_exch_unfenced(global atomic_int *mutex, global int *x) {
  while (atomic_exchange_explicit(mutex, 1, memory_order_relaxed, memory_scope_device) != 0) {}
  *x += 1;
  atomic_exchange_explicit(mutex, 0, memory_order_relaxed, memory_scope_device);
}
