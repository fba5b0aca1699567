// A flag and a count in one word of 64 bits, written whole and read by halves: OpenCL says nothing of what is read.
// synth check: --grid 2
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
kernel void mixed_size(global atomic_ulong *word, global uint *out) {
  if (get_group_id(0) == 0) {
    atomic_store_explicit(word, 1ul << 32 | 5, memory_order_relaxed, memory_scope_device);
  } else {
    volatile global uint *half_of = (volatile global uint *)word;
    if (half_of[1] == 1) *out = half_of[0];
  }
}
