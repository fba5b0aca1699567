// A hash table whose values stand beside its keys: who finds the key reads the value, which is there if it was written
// before the key was published. The second form publishes the key first.
// synth check: --grid 2 --expect 'out == 0 || out == 7'
__device__ void publish(int *key) { __nv_atomic_store_n(key, 5, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE); }
__device__ bool found(int *key) {
  return __nv_atomic_load_n(key, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE) == 5;
}
extern "C" __global__ void hash_lookup(int *key, int *value, int *out) {
  if (blockIdx.x == 0) {
    *value = 7;
    publish(key);
  } else if (found(key)) {
    *out = *value;
  }
}
extern "C" __global__ void hash_lookup_key_first(int *key, int *value, int *out) {
  if (blockIdx.x == 0) {
    publish(key);
    *value = 7;
  } else if (found(key)) {
    *out = *value + (*value == 0 ? 1 : 0);
  }
}
