// A counter with a limit, which is looked at before it is added to: both blocks may see room for one, and trap.
// synth check: --grid 2 --arg limit=1
extern "C" __global__ void counter_limit(int *count, int limit) {
  if (atomicAdd(count, 0) < limit && atomicAdd(count, 1) >= limit) __trap();
}
