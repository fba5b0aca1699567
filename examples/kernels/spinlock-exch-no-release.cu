// The lock taken by exchange, with a fence behind taking it alone: giving it back releases nothing.
// synth check: --grid 2 --expect 'x == 2'
extern "C" __global__ void spinlock_exch_no_release(int *mutex, int *x) {
  while (atomicExch(mutex, 1) != 0) {}
  __threadfence();
  *x += 1;
  atomicExch(mutex, 0);
}
