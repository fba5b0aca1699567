// A ticket lock: each block draws a number and waits until it is served.
// synth check: --grid 2 --expect 'x == 2'
extern "C" __global__ void ticket_lock(int *next, int *serving, int *x) {
  int mine = atomicAdd(next, 1);
  while (__nv_atomic_load_n(serving, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE) != mine) {}
  *x += 1;
  __nv_atomic_store_n(serving, mine + 1, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
}
