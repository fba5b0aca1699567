// Cooperative groups' barrier of a grid, of blocks that read what their neighbours wrote.
// synth check: --grid 2 --expect 'data[2] == 1 && data[3] == 1'
// synth check: --grid 3 --expect 'data[3] == 1 && data[4] == 1 && data[5] == 1'
#include <cooperative_groups.h>

extern "C" __global__ void meet(int *data) {
  data[blockIdx.x] = 1;
  cooperative_groups::this_grid().sync();
  data[gridDim.x + blockIdx.x] = data[(blockIdx.x + 1) % gridDim.x];
}
