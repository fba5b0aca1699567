// Message passing by a volatile flag between fences, as programs older than scoped atomics do: volatile is relaxed at
// system scope, so the fences order the data.
// synth check: --grid 2 --expect 'out == 2'
extern "C" __global__ void mp_volatile_flag(int *data, volatile int *flag, int *out) {
  if (blockIdx.x == 0) {
    *data = 1;
    __threadfence();
    *flag = 1;
  } else {
    while (*flag == 0) {}
    __threadfence();
    *out = 1 + *data;
  }
}
