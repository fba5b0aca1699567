// The lock taken by exchange and given back by a plain store: it races with the exchange, and as nothing orders it among
// the exchanges, they need never see it. What it guards is in order all the same, by the fences.
// synth check: --grid 2 --expect 'x == 2'
extern "C" __global__ void spinlock_exch_plain_unlock(int *mutex, int *x) {
  while (atomicExch(mutex, 1) != 0) {}
  __threadfence();
  *x += 1;
  __threadfence();
  *mutex = 0;
}
