// Insertion into a hash table with linear probing: a place is taken by compare-and-swap from 0 to the key. Two work-
// groups insert 1 and 3, which have the same first place.
// synth check: --grid 2 --expect '(keys[1] == 1 && keys[0] == 3) || (keys[1] == 3 && keys[0] == 1)'
kernel void hash_insert(global atomic_int *keys) {
  int key = 1 + 2 * get_group_id(0);
  for (int at = key % 2;; at = (at + 1) % 2) {
    int there = 0;
    if (atomic_compare_exchange_strong_explicit(&keys[at], &there, key, memory_order_relaxed, memory_order_relaxed,
                                                memory_scope_device))
      break;
    if (there == key) break;
  }
}
