// CUB's decoupled look-back with status and value in one vector of two words: the tiles' sums are 1, and each tile's
// prefix is what it is from all before it.
// synth check: --grid 3 --block 2 --warp 2 --expect 'out[0] == 1 && out[1] == 2 && out[2] == 3'
#include <cub/agent/single_pass_scan_operators.cuh>

struct Plus {
  __device__ int operator()(int a, int b) const { return a + b; }
};

extern "C" __global__ void scan(cub::ScanTileState<int> state, int *out) {
  using Prefix = cub::TilePrefixCallbackOp<int, Plus, cub::ScanTileState<int>>;
  __shared__ typename Prefix::TempStorage temp;
  int tile = blockIdx.x;
  if (tile == 0) {
    if (threadIdx.x == 0) {
      state.SetInclusive(0, 1);
      out[0] = 1;
    }
  } else {
    Prefix prefix(state, temp, Plus(), tile);
    int before = prefix(1);
    if (threadIdx.x == 0) out[tile] = before + 1;
  }
}
