// A barrier of all blocks: each counts itself in, the last turns the sense and sets the count back.
// synth check: --grid 3 --expect 'out[0] == 1 && out[1] == 1 && out[2] == 1'
extern "C" __global__ void grid_barrier(unsigned *count, int *sense, int *x, int *out) {
  int n = gridDim.x, me = blockIdx.x;
  x[me] = 1;
  __threadfence();
  if (atomicAdd(count, 1) == n - 1) {
    __threadfence();
    *count = 0;
    __nv_atomic_store_n(sense, 1, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
  } else {
    while (__nv_atomic_load_n(sense, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE) == 0) {}
  }
  out[me] = x[(me + 1) % n];
}
