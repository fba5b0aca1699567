// The histogram whose bins are counted into without atomics.
// synth check: --block 2 --warp 1 --arg 'in=[1,1]' --arg 'bins=int[2]' --expect 'bins[0] == 0 && bins[1] == 2'
extern "C" __global__ void histogram_plain(const int *in, int *bins) {
  __shared__ int own[2];
  int me = threadIdx.x;
  own[me] = 0;
  __syncthreads();
  own[in[me]] += 1;
  __syncthreads();
  atomicAdd(&bins[me], own[me]);
}
