// CUB's queue of a grid: two blocks drain four items, two at a time; each item is taken once.
// synth check: --grid 2 --arg counters=[4] --expect 'out[0] == 1 && out[1] == 1 && out[2] == 1 && out[3] == 1'
#include <cub/grid/grid_queue.cuh>

extern "C" __global__ void drain(int *counters, int *out) {
  cub::GridQueue<int> queue(counters);
  int size;
  queue.FillSize(size);
  for (int at = queue.Drain(2); at < size; at = queue.Drain(2)) {
    out[at] = out[at] + 1;
    out[at + 1] = out[at + 1] + 1;
  }
}
