// The barrier of all blocks of cooperative groups.
// synth check: --grid 2 --expect 'out[0] == 1 && out[1] == 1'
#include <cooperative_groups.h>
extern "C" __global__ void grid_sync(int *x, int *out) {
  x[blockIdx.x] = 1;
  cooperative_groups::this_grid().sync();
  out[blockIdx.x] = x[(blockIdx.x + 1) % gridDim.x];
}
