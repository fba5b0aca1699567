// A lock of volatile accesses in place of atomics: between seeing it free and taking it another thread does the same.
// synth check: --grid 2 --expect 'x == 2'
extern "C" __global__ void spinlock_volatile(volatile int *mutex, int *x) {
  while (*mutex != 0) {}
  *mutex = 1;
  __threadfence();
  *x += 1;
  __threadfence();
  *mutex = 0;
}
