// The ticket lock whose number served is volatile, without fences: volatile accesses are not atomic.
// synth check: --grid 2 --expect 'x == 2'
kernel void ticket_lock_volatile(global atomic_int *next, volatile global int *serving, global int *x) {
  int mine = atomic_fetch_add_explicit(next, 1, memory_order_relaxed, memory_scope_device);
  while (*serving != mine) {}
  *x += 1;
  *serving = mine + 1;
}
