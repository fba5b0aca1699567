// A ticket lock: each work-group draws a number and waits until it is served.
// synth check: --grid 2 --expect 'x == 2'
kernel void ticket_lock(global atomic_int *next, global atomic_int *serving, global int *x) {
  int mine = atomic_fetch_add_explicit(next, 1, memory_order_relaxed, memory_scope_device);
  while (atomic_load_explicit(serving, memory_order_acquire, memory_scope_device) != mine) {}
  *x += 1;
  atomic_store_explicit(serving, mine + 1, memory_order_release, memory_scope_device);
}
