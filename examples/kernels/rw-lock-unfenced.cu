// The reader-writer lock without a fence between what each side says and what it looks at: each may miss the other.
// synth check: --grid 2 --expect 'out[0] == out[1]'
extern "C" __global__ void rw_lock_unfenced(int *writer, int *readers, int *x, int *y, int *out) {
  if (blockIdx.x == 0) {
    __nv_atomic_store_n(writer, 1, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    while (__nv_atomic_load_n(readers, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE) != 0) {}
    *x = 1;
    *y = 1;
    __nv_atomic_store_n(writer, 0, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
  } else {
    while (true) {
      atomicAdd(readers, 1);
      if (__nv_atomic_load_n(writer, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE) == 0) break;
      atomicSub(readers, 1);
    }
    out[0] = *x;
    out[1] = *y;
    __nv_atomic_fetch_sub(readers, 1, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
  }
}
