// Each thread takes its right neighbour's value in shared memory; the last one has none.
// synth check: --block 2 --warp 1
extern "C" __global__ void bounds(int *out) {
  __shared__ int value[2];
  value[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = value[threadIdx.x + 1];
}
