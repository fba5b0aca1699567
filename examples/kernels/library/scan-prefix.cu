// CUB's decoupled look-back as DeviceScan has it, by a warp of one thread, which looks at one tile.
// Each tile's sum is 1.
// synth check: --grid 2 --arg state.d_tile_descriptors=[64*0,99,0,99,0] --expect 'out[0] == 1 && out[1] == 2'
#include <cub/agent/single_pass_scan_operators.cuh>

struct Plus {
  __device__ int operator()(int a, int b) const { return a + b; }
};

using State = cub::ScanTileState<int>;
using Prefix = cub::TilePrefixCallbackOp<int, Plus, State>;

extern "C" __global__ void scan(State state, int *out) {
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
