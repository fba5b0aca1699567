// Threads whose word is not 0 take the value of the first of them.
// synth check: --block 3 --warp 4 --arg c=[1,0,1] --expect 'out[0] == 5 && out[2] == 5'
extern "C" __global__ void ballot_leader(int *c, int *out) {
  int me = threadIdx.x, wanted = c[me];
  unsigned active = __ballot_sync(7, wanted);
  if (wanted) {
    int leader = __ffs(active) - 1, value = me == leader ? 5 : 9;
    out[me] = __shfl_sync(active, value, leader);
  }
}
