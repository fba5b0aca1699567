// Look-back, blocks in the order in which they draw a number: the second waits for the sum of the first.
// synth check: --grid 2 --expect 'sum[0] == 1 && sum[1] == 2'
extern "C" __global__ void lookback_dynamic(int *next, int *flag, int *sum) {
  if (atomicAdd(next, 1) == 0) {
    sum[0] = 1;
    __nv_atomic_store_n(flag, 2, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
  } else {
    while (__nv_atomic_load_n(flag, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE) != 2) {}
    sum[1] = sum[0] + 1;
  }
}
