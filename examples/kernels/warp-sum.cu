// A sum in a warp through shared memory, with the warp converging between writing and reading, and without.
// synth check: --block 2 --expect 'out == 3'
extern "C" __global__ void warp_sum(int *out) {
  __shared__ int part[2];
  part[threadIdx.x] = threadIdx.x + 1;
  __syncwarp();
  if (threadIdx.x == 0) *out = part[0] + part[1];
}
extern "C" __global__ void warp_sum_unsynchronised(int *out) {
  __shared__ volatile int part[2];
  part[threadIdx.x] = threadIdx.x + 1;
  if (threadIdx.x == 0) *out = part[0] + part[1];
}
