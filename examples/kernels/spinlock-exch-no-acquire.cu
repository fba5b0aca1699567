// The lock taken by exchange, with a fence before giving it back alone: who takes it next acquires nothing.
// synth check: --grid 2 --expect 'x == 2'
extern "C" __global__ void spinlock_exch_no_acquire(int *mutex, int *x) {
  while (atomicExch(mutex, 1) != 0) {}
  *x += 1;
  __threadfence();
  atomicExch(mutex, 0);
}
