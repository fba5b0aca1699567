// Decoupled look-back, blocks in the order of their ids: each adds what its predecessors have published, flag 1 for a
// sum of its own, flag 2 for the sum of all so far. The scan of 1 1 1.
// synth check: --grid 3 --expect 'out[0] == 1 && out[1] == 2 && out[2] == 3'
__device__ int wait(int *flag) {
  int found;
  do { found = __nv_atomic_load_n(flag, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE); } while (found == 0);
  return found;
}
__device__ void publish(int *flag, int state) {
  __nv_atomic_store_n(flag, state, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
}
extern "C" __global__ void lookback_static(int *flag, int *own, int *all, int *out) {
  int me = blockIdx.x, sum = 0;
  if (me > 0 && me < gridDim.x - 1) {
    own[me] = 1;
    publish(&flag[me], 1);
  }
  for (int other = me - 1; other >= 0; other--) {
    if (wait(&flag[other]) == 2) {
      sum += all[other];
      break;
    }
    sum += own[other];
  }
  out[me] = sum + 1;
  all[me] = sum + 1;
  publish(&flag[me], 2);
}
