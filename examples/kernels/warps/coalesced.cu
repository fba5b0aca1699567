// Threads that are active together count by one atomic addition of the first of them.
// synth check: --block 3 --warp 4 --arg n=2 --expect 'counter == 2'
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

extern "C" __global__ void coalesced(int *counter, int n) {
  if (threadIdx.x < n) {
    auto group = cg::coalesced_threads();
    if (group.thread_rank() == 0) atomicAdd(counter, (int)group.size());
  }
}
