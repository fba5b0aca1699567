// A sum in a sub-group through local memory, with a barrier of the sub-group between writing and reading, and without.
// synth check: --block 2 --expect 'out == 3'
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
kernel void warp_sum(global int *out) {
  local int part[2];
  part[get_local_id(0)] = get_local_id(0) + 1;
  sub_group_barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) == 0) *out = part[0] + part[1];
}
kernel void warp_sum_unsynchronised(global int *out) {
  local int part[2];
  part[get_local_id(0)] = get_local_id(0) + 1;
  if (get_local_id(0) == 0) *out = part[0] + part[1];
}
