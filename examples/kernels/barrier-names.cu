// Two threads at barriers of different names, each of which waits for all threads of the block.
// synth check: --block 2 --warp 1
extern "C" __global__ void barrier_names(int *data) {
  if (threadIdx.x == 0) {
    asm volatile("barrier.cta.sync 1;" ::: "memory");
  } else {
    asm volatile("barrier.cta.sync 2;" ::: "memory");
  }
  data[threadIdx.x] = 1;
}
