// A barrier in each branch: threads of one warp come to different ones, which the barrier of a block forbids; threads of
// two warps may.
// synth check: --block 2 --expect 'out == 1'
// synth check: --block 2 --warp 1 --expect 'out == 1'
extern "C" __global__ void barrier_divergent(int *data, int *out) {
  if (threadIdx.x == 0) {
    *data = 1;
    __syncthreads();
  } else {
    __syncthreads();
    *out = *data;
  }
}
