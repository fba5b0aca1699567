// A hash table whose values stand beside its keys: who finds the key reads the value, which is there if it was written
// before the key was published. The second form publishes the key first.
// synth check: --grid 2 --expect 'out == 0 || out == 7'
void publish(global atomic_int *key) {
  atomic_store_explicit(key, 5, memory_order_release, memory_scope_device);
}
bool found(global atomic_int *key) {
  return atomic_load_explicit(key, memory_order_acquire, memory_scope_device) == 5;
}
kernel void hash_lookup(global atomic_int *key, global int *value, global int *out) {
  if (get_group_id(0) == 0) {
    *value = 7;
    publish(key);
  } else if (found(key)) {
    *out = *value;
  }
}
kernel void hash_lookup_key_first(global atomic_int *key, global int *value, global int *out) {
  if (get_group_id(0) == 0) {
    publish(key);
    *value = 7;
  } else if (found(key)) {
    int there = *value;
    *out = there == 0 ? 1 : there;
  }
}
