// Message passing in shared memory by a barrier of the block.
// synth check: --block 2 --expect 'out[0] == 2 && out[1] == 1'
// synth check: --block 2 --warp 1 --expect 'out[0] == 2 && out[1] == 1'
extern "C" __global__ void mp_barrier(int *out) {
  __shared__ int value[2];
  value[threadIdx.x] = threadIdx.x + 1;
  __syncthreads();
  out[threadIdx.x] = value[1 - threadIdx.x];
}
