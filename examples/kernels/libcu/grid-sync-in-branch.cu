// The barrier of all blocks of cooperative groups in a branch that block 1 does not take: block 0 waits for ever.
// synth check: --grid 2
#include <cooperative_groups.h>
extern "C" __global__ void grid_sync_in_branch(int *x) {
  x[blockIdx.x] = 1;
  if (blockIdx.x == 0) {
    cooperative_groups::this_grid().sync();
    x[0] = 2;
  }
}
