// The flag is set before the barrier, to which both threads come.
// synth check: --block 2 --warp 1
extern "C" __global__ void barrier_after_wait(int *flag) {
  if (threadIdx.x == 0) {
    atomicExch(flag, 1);
  } else {
    while (atomicAdd(flag, 0) == 0) {}
  }
  __syncthreads();
}
