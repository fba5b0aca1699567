// Cooperative groups' barrier of a block, of two warps that exchange values.
// synth check: --block 2 --warp 1 --expect 'data[2] == 1 && data[3] == 1'
#include <cooperative_groups.h>

extern "C" __global__ void meet(int *data) {
  data[threadIdx.x] = 1;
  cooperative_groups::this_thread_block().sync();
  data[2 + threadIdx.x] = data[1 - threadIdx.x];
}
