// The histogram without a barrier between clearing and counting: a count may be cleared, or come to what nobody cleared.
// synth check: --block 2 --warp 1 --arg 'in=[1,0]' --arg 'bins=int[2]' --expect 'bins[0] == 1 && bins[1] == 1'
extern "C" __global__ void histogram_no_barrier(const int *in, int *bins) {
  __shared__ int own[2];
  int me = threadIdx.x;
  own[me] = 0;
  atomicAdd(&own[in[me]], 1);
  __syncthreads();
  atomicAdd(&bins[me], own[me]);
}
