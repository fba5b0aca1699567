// A flag and a count in one word of 64 bits, written and read whole: no fence is needed.
// synth check: --grid 2 --expect 'out == 0 || out == 5'
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
kernel void packed_word(global atomic_ulong *word, global uint *out) {
  if (get_group_id(0) == 0) {
    atomic_store_explicit(word, 1ul << 32 | 5, memory_order_relaxed, memory_scope_device);
  } else {
    ulong found = atomic_load_explicit(word, memory_order_relaxed, memory_scope_device);
    if (found >> 32 == 1) *out = (uint)found;
  }
}
