// Message passing by a volatile flag and volatile data: nothing races, and yet the data may be stale.
// synth check: --block 2 --warp 1 --expect 'out == 0 || out == 2'
extern "C" __global__ void mp_volatile(volatile int *data, volatile int *flag, int *out) {
  if (threadIdx.x == 0) {
    *data = 1;
    *flag = 1;
  } else if (*flag == 1) {
    *out = 1 + *data;
  }
}
