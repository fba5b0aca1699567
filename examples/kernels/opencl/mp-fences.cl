// Message passing by relaxed atomics between fences: on both sides, on the writer's alone, on the reader's alone, of a
// scope without the other work-group, and of local memory.
// synth check: --grid 2 --expect 'out == 0 || out == 2'
void set(global atomic_int *flag) { atomic_store_explicit(flag, 1, memory_order_relaxed, memory_scope_device); }
bool is_set(global atomic_int *flag) {
  return atomic_load_explicit(flag, memory_order_relaxed, memory_scope_device) == 1;
}
kernel void mp_fences(global int *data, global atomic_int *flag, global int *out) {
  if (get_group_id(0) == 0) {
    *data = 1;
    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device);
    set(flag);
  } else if (is_set(flag)) {
    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device);
    *out = 1 + *data;
  }
}
kernel void mp_fence_of_writer(global int *data, global atomic_int *flag, global int *out) {
  if (get_group_id(0) == 0) {
    *data = 1;
    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device);
    set(flag);
  } else if (is_set(flag)) {
    *out = 1 + *data;
  }
}
kernel void mp_fence_of_reader(global int *data, global atomic_int *flag, global int *out) {
  if (get_group_id(0) == 0) {
    *data = 1;
    set(flag);
  } else if (is_set(flag)) {
    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device);
    *out = 1 + *data;
  }
}
kernel void mp_fences_of_block(global int *data, global atomic_int *flag, global int *out) {
  if (get_group_id(0) == 0) {
    *data = 1;
    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_work_group);
    set(flag);
  } else if (is_set(flag)) {
    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_work_group);
    *out = 1 + *data;
  }
}
kernel void mp_fences_of_local_memory(global int *data, global atomic_int *flag, global int *out) {
  if (get_group_id(0) == 0) {
    *data = 1;
    atomic_work_item_fence(CLK_LOCAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device);
    set(flag);
  } else if (is_set(flag)) {
    atomic_work_item_fence(CLK_LOCAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device);
    *out = 1 + *data;
  }
}
