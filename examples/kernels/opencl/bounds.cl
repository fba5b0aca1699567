// Each work-item takes its right neighbour's value in local memory; the last one has none.
// synth check: --block 2 --warp 1
kernel void bounds(global int *out) {
  local int value[2];
  int me = get_local_id(0);
  value[me] = me;
  barrier(CLK_LOCAL_MEM_FENCE);
  out[me] = value[me + 1];
}
