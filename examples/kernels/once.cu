// Initialisation by the first block that comes: the others wait until it is done.
// synth check: --grid 2 --expect 'out[0] == 7 && out[1] == 7'
extern "C" __global__ void once(int *state, int *value, int *out) {
  if (atomicCAS(state, 0, 1) == 0) {
    *value = 7;
    __nv_atomic_store_n(state, 2, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
  }
  while (__nv_atomic_load_n(state, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE) != 2) {}
  out[blockIdx.x] = *value;
}
