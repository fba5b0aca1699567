// A barrier in each branch: OpenCL has all work-items of a work-group come to the same one, be they of one sub-group or
// not.
// synth check: --block 2
// synth check: --block 2 --warp 1
kernel void barrier_divergent(global int *data, global int *out) {
  if (get_local_id(0) == 0) {
    *data = 1;
    barrier(CLK_GLOBAL_MEM_FENCE);
  } else {
    barrier(CLK_GLOBAL_MEM_FENCE);
    *out = *data;
  }
}
