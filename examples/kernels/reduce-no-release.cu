// The sum by the last block, without a fence between a block's part and the count.
// synth check: --grid 2 --block 2 --warp 1 --arg 'in=[1,2,3,4]' --expect 'out == 10'
extern "C" __global__ void reduce_no_release(const int *in, int *part, unsigned *done, int *out) {
  __shared__ int sum[2];
  __shared__ bool last;
  int me = threadIdx.x;
  sum[me] = in[2 * blockIdx.x + me];
  __syncthreads();
  if (me == 0) {
    part[blockIdx.x] = sum[0] + sum[1];
    last = atomicAdd(done, 1) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (last && me == 1) *out = part[0] + part[1];
}
