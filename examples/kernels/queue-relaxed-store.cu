// The queue of one place whose flag is set by a relaxed store: items may be seen late, or overwritten early.
// synth check: --grid 2 --expect 'out[0] == 1 && out[1] == 2'
__device__ void wait(int *full, int value) {
  while (__nv_atomic_load_n(full, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE) != value) {}
}
__device__ void set(int *full, int value) {
  __nv_atomic_store_n(full, value, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
}
extern "C" __global__ void queue_relaxed_store(int *full, int *slot, int *out) {
  for (int item = 1; item <= 2; item++) {
    if (blockIdx.x == 0) {
      wait(full, 0);
      *slot = item;
      set(full, 1);
    } else {
      wait(full, 1);
      out[item - 1] = *slot;
      set(full, 0);
    }
  }
}
