// The barrier of all blocks without fences around the count: what others wrote before it is not seen.
// synth check: --grid 3 --expect 'out[0] == 1 && out[1] == 1 && out[2] == 1'
extern "C" __global__ void grid_barrier_unfenced(unsigned *count, int *sense, int *x, int *out) {
  int n = gridDim.x, me = blockIdx.x;
  x[me] = 1;
  if (atomicAdd(count, 1) == n - 1) {
    __nv_atomic_store_n(sense, 1, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
  } else {
    while (__nv_atomic_load_n(sense, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE) == 0) {}
  }
  out[me] = x[(me + 1) % n];
}
