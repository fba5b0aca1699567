// A named barrier of more threads than come to it: nobody goes on. On a device n is a multiple of 32.
// synth check: --block 2 --warp 1 --arg n=3
extern "C" __global__ void barrier_count(int *data, int n) {
  data[threadIdx.x] = 1;
  asm volatile("barrier.cta.sync 1, %0;" ::"r"(n) : "memory");
  data[1 - threadIdx.x] = 2;
}
