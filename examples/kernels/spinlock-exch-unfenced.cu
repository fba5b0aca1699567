// The lock taken by exchange without fences: atomicExch is relaxed, and x may be stale.
// synth check: --grid 2 --expect 'x == 2'
extern "C" __global__ void spinlock_exch_unfenced(int *mutex, int *x) {
  while (atomicExch(mutex, 1) != 0) {}
  *x += 1;
  atomicExch(mutex, 0);
}
