// Look-back whose sum is published behind its flag: who sees the flag may miss the sum.
// synth check: --grid 2 --expect 'sum[0] == 1 && sum[1] == 2'
extern "C" __global__ void lookback_flag_first(int *next, int *flag, int *sum) {
  if (atomicAdd(next, 1) == 0) {
    __nv_atomic_store_n(flag, 2, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
    sum[0] = 1;
  } else {
    while (__nv_atomic_load_n(flag, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE) != 2) {}
    sum[1] = sum[0] + 1;
  }
}
