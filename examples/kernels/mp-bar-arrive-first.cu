// Message passing by a named barrier, where the producer arrives before it has written.
// synth check: --block 2 --warp 1 --arg n=2 --expect 'out == 2'
extern "C" __global__ void mp_bar_arrive_first(int *data, int *out, int n) {
  if (threadIdx.x == 0) {
    asm volatile("barrier.cta.arrive 1, %0;" ::"r"(n) : "memory");
    *data = 1;
  } else {
    asm volatile("barrier.cta.sync 1, %0;" ::"r"(n) : "memory");
    *out = 1 + *data;
  }
}
