// Message passing by a volatile flag between fences, as programs older than OpenCL 2.0 do: volatile accesses are not
// atomic.
// synth check: --grid 2 --expect 'out == 2'
kernel void mp_volatile_flag(global int *data, volatile global int *flag, global int *out) {
  if (get_group_id(0) == 0) {
    *data = 1;
    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device);
    *flag = 1;
  } else {
    while (*flag == 0) {}
    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device);
    *out = 1 + *data;
  }
}
