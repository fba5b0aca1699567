// Message passing in local memory without a barrier: the other work-item's place may not be written yet.
// synth check: --block 2 --expect 'out[0] == 2 && out[1] == 1'
// synth check: --block 2 --warp 1 --expect 'out[0] == 2 && out[1] == 1'
kernel void mp_barrier_missing(global int *out) {
  local int value[2];
  int me = get_local_id(0);
  value[me] = me + 1;
  out[me] = value[1 - me];
}
