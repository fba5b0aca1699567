// Message passing in global memory by a barrier that orders global memory.
// synth check: --block 2 --expect 'out[0] == 2 && out[1] == 1'
kernel void mp_barrier_both(global int *value, global int *out) {
  int me = get_local_id(0);
  value[me] = me + 1;
  barrier(CLK_GLOBAL_MEM_FENCE);
  out[me] = value[1 - me];
}
