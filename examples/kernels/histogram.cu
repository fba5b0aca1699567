// A histogram: bins in shared memory are cleared, counted into, and added to those of all blocks, with barriers between.
// synth check: --block 2 --warp 1 --arg 'in=[1,1]' --arg 'bins=int[2]' --expect 'bins[0] == 0 && bins[1] == 2'
extern "C" __global__ void histogram(const int *in, int *bins) {
  __shared__ int own[2];
  int me = threadIdx.x;
  own[me] = 0;
  __syncthreads();
  atomicAdd(&own[in[me]], 1);
  __syncthreads();
  atomicAdd(&bins[me], own[me]);
}
