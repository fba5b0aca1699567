// Insertion into a hash table that looks whether a place is free and then takes it: both work-groups may take one
// place.
// synth check: --grid 2 --expect '(keys[1] == 1 && keys[0] == 3) || (keys[1] == 3 && keys[0] == 1)'
kernel void hash_insert_check_then_set(global atomic_int *keys) {
  int key = 1 + 2 * get_group_id(0);
  for (int at = key % 2, turn = 0; turn < 2; at = (at + 1) % 2, turn++) {
    int there = atomic_load_explicit(&keys[at], memory_order_relaxed, memory_scope_device);
    if (there == 0) atomic_store_explicit(&keys[at], key, memory_order_relaxed, memory_scope_device);
    if (there == 0 || there == key) break;
  }
}
