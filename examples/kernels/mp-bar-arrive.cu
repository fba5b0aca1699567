// Message passing by a named barrier of n threads: the producer arrives and goes on, the consumer waits. On a device n
// is a multiple of 32, with a warp for each of the two.
// synth check: --block 2 --warp 1 --arg n=2 --expect 'out == 2'
extern "C" __global__ void mp_bar_arrive(int *data, int *out, int n) {
  if (threadIdx.x == 0) {
    *data = 1;
    asm volatile("barrier.cta.arrive 1, %0;" ::"r"(n) : "memory");
  } else {
    asm volatile("barrier.cta.sync 1, %0;" ::"r"(n) : "memory");
    *out = 1 + *data;
  }
}
