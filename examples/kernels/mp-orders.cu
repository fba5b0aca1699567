// Message passing from one block to another by an atomic flag, in several orders and scopes: only a store that releases
// and a load that acquires, at a scope with both blocks, order the data.
// synth check: --grid 2 --expect 'out == 0 || out == 2'
template <int store, int load, int scope>
__device__ void pass(int *data, int *flag, int *out) {
  if (blockIdx.x == 0) {
    *data = 1;
    __nv_atomic_store_n(flag, 1, store, scope);
  } else if (__nv_atomic_load_n(flag, load, scope) == 1) {
    *out = 1 + *data;
  }
}
extern "C" __global__ void mp_relaxed(int *data, int *flag, int *out) {
  pass<__NV_ATOMIC_RELAXED, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE>(data, flag, out);
}
extern "C" __global__ void mp_release_relaxed(int *data, int *flag, int *out) {
  pass<__NV_ATOMIC_RELEASE, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE>(data, flag, out);
}
extern "C" __global__ void mp_relaxed_acquire(int *data, int *flag, int *out) {
  pass<__NV_ATOMIC_RELAXED, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE>(data, flag, out);
}
extern "C" __global__ void mp_release_acquire(int *data, int *flag, int *out) {
  pass<__NV_ATOMIC_RELEASE, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE>(data, flag, out);
}
extern "C" __global__ void mp_release_acquire_system(int *data, int *flag, int *out) {
  pass<__NV_ATOMIC_RELEASE, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_SYSTEM>(data, flag, out);
}
extern "C" __global__ void mp_release_acquire_block(int *data, int *flag, int *out) {
  pass<__NV_ATOMIC_RELEASE, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_BLOCK>(data, flag, out);
}
extern "C" __global__ void mp_seq_cst(int *data, int *flag, int *out) {
  pass<__NV_ATOMIC_SEQ_CST, __NV_ATOMIC_SEQ_CST, __NV_THREAD_SCOPE_DEVICE>(data, flag, out);
}
