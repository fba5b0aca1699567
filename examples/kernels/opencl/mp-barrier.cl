// Message passing in local memory by a barrier of the work-group.
// synth check: --block 2 --expect 'out[0] == 2 && out[1] == 1'
// synth check: --block 2 --warp 1 --expect 'out[0] == 2 && out[1] == 1'
kernel void mp_barrier(global int *out) {
  local int value[2];
  int me = get_local_id(0);
  value[me] = me + 1;
  barrier(CLK_LOCAL_MEM_FENCE);
  out[me] = value[1 - me];
}
