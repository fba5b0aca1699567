// Message passing from one warp to another of the same block: the scope of the block is wide enough.
// synth check: --block 2 --warp 1 --expect 'out == 2'
extern "C" __global__ void mp_one_block(int *data, int *flag, int *out) {
  if (threadIdx.x == 0) {
    *data = 1;
    __nv_atomic_store_n(flag, 1, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_BLOCK);
  } else {
    while (__nv_atomic_load_n(flag, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_BLOCK) == 0) {}
    *out = 1 + *data;
  }
}
