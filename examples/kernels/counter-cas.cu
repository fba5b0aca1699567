// A counter with a limit, by compare-and-swap until nobody has come between.
// synth check: --grid 2 --arg limit=1 --expect 'count == 1'
extern "C" __global__ void counter_cas(int *count, int limit) {
  int old = *(volatile int *)count;
  while (old < limit) {
    int seen = atomicCAS(count, old, old + 1);
    if (seen == old) break;
    old = seen;
  }
}
