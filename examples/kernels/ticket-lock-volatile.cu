// The ticket lock whose number served is volatile, without fences: volatile is relaxed and orders nothing else.
// synth check: --grid 2 --expect 'x == 2'
extern "C" __global__ void ticket_lock_volatile(int *next, volatile int *serving, int *x) {
  int mine = atomicAdd(next, 1);
  while (*serving != mine) {}
  *x += 1;
  *serving = mine + 1;
}
