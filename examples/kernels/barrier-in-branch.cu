// A barrier in a branch that one thread does not take: it waits for a flag that the other sets behind the barrier.
// synth check: --block 2 --warp 1
extern "C" __global__ void barrier_in_branch(int *flag) {
  if (threadIdx.x == 0) {
    __syncthreads();
    atomicExch(flag, 1);
  } else {
    while (atomicAdd(flag, 0) == 0) {}
  }
}
