// Each pair of threads is a tile of its own: its first thread reads what its second one has written.
// synth check: --block 4 --warp 4 --expect 'out[0] == 1 && out[2] == 3'
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

extern "C" __global__ void tiled_partition(int *slots, int *out) {
  auto tile = cg::tiled_partition<2>(cg::this_thread_block());
  int me = threadIdx.x;
  if (tile.thread_rank() == 1) slots[me / 2] = me;
  tile.sync();
  if (tile.thread_rank() == 0) out[me] = slots[me / 2];
}
