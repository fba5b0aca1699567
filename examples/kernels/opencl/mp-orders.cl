// Message passing from one work-group to another by an atomic flag, in several orders and scopes: only a store that
// releases and a load that acquires, at one scope with both work-groups, order the data.
// synth check: --grid 2 --expect 'out == 0 || out == 2'
#define PASS(STORE, LOAD, SCOPE)                                     \
  if (get_group_id(0) == 0) {                                        \
    *data = 1;                                                       \
    atomic_store_explicit(flag, 1, STORE, SCOPE);                    \
  } else if (atomic_load_explicit(flag, LOAD, SCOPE) == 1) {         \
    *out = 1 + *data;                                                \
  }
kernel void mp_relaxed(global int *data, global atomic_int *flag, global int *out) {
  PASS(memory_order_relaxed, memory_order_relaxed, memory_scope_device)
}
kernel void mp_release_relaxed(global int *data, global atomic_int *flag, global int *out) {
  PASS(memory_order_release, memory_order_relaxed, memory_scope_device)
}
kernel void mp_relaxed_acquire(global int *data, global atomic_int *flag, global int *out) {
  PASS(memory_order_relaxed, memory_order_acquire, memory_scope_device)
}
kernel void mp_release_acquire(global int *data, global atomic_int *flag, global int *out) {
  PASS(memory_order_release, memory_order_acquire, memory_scope_device)
}
kernel void mp_release_acquire_system(global int *data, global atomic_int *flag, global int *out) {
  PASS(memory_order_release, memory_order_acquire, memory_scope_all_svm_devices)
}
kernel void mp_release_acquire_block(global int *data, global atomic_int *flag, global int *out) {
  PASS(memory_order_release, memory_order_acquire, memory_scope_work_group)
}
kernel void mp_seq_cst(global int *data, global atomic_int *flag, global int *out) {
  PASS(memory_order_seq_cst, memory_order_seq_cst, memory_scope_device)
}
