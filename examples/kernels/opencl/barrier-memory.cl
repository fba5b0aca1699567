// Memory decides which of two barriers a work-item comes to.
// synth check: --block 2 --arg c=[1]
kernel void barrier_memory(global int *c, global int *a) {
  int me = get_local_id(0);
  if (me < c[0]) {
    barrier(CLK_GLOBAL_MEM_FENCE);
  } else {
    a[me] = 1;
    barrier(CLK_GLOBAL_MEM_FENCE);
  }
}
