// Message passing by a plain flag between fences. The flag races. Fences that are sequentially consistent, as
// __threadfence() is, order the data all the same, as one of the two comes first; those of the second form do not.
// synth check: --grid 2 --expect 'out == 0 || out == 2'
extern "C" __global__ void mp_plain_flag(int *data, int *flag, int *out) {
  if (blockIdx.x == 0) {
    *data = 1;
    __threadfence();
    *flag = 1;
  } else if (*flag == 1) {
    __threadfence();
    *out = 1 + *data;
  }
}
extern "C" __global__ void mp_plain_flag_acq_rel(int *data, int *flag, int *out) {
  if (blockIdx.x == 0) {
    *data = 1;
    __nv_atomic_thread_fence(__NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
    *flag = 1;
  } else if (*flag == 1) {
    __nv_atomic_thread_fence(__NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE);
    *out = 1 + *data;
  }
}
