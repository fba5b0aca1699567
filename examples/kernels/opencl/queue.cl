// A queue of one place: the producer waits until it is empty, the consumer until it is full.
// synth check: --grid 2 --expect 'out[0] == 1 && out[1] == 2'
void wait(global atomic_int *full, int value) {
  while (atomic_load_explicit(full, memory_order_acquire, memory_scope_device) != value) {}
}
void set(global atomic_int *full, int value) {
  atomic_store_explicit(full, value, memory_order_release, memory_scope_device);
}
kernel void queue(global atomic_int *full, global int *slot, global int *out) {
  for (int item = 1; item <= 2; item++) {
    if (get_group_id(0) == 0) {
      wait(full, 0);
      *slot = item;
      set(full, 1);
    } else {
      wait(full, 1);
      out[item - 1] = *slot;
      set(full, 0);
    }
  }
}
