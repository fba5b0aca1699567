// A lock taken by exchange, with a fence behind taking it and one before giving it back.
// Two blocks add 1 to x under it.
// synth check: --grid 2 --expect 'x == 2'
extern "C" __global__ void spinlock_exch(int *mutex, int *x) {
  while (atomicExch(mutex, 1) != 0) {}
  __threadfence();
  *x += 1;
  __threadfence();
  atomicExch(mutex, 0);
}
