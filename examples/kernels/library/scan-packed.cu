// CUB's decoupled look-back, one thread a tile, with status and value packed into a vector of two words. Each tile's sum
// is 1. The descriptors of 32 tiles before the first one are padding; those of tiles begin as invalid (99).
// synth check: --grid 3 --arg state.d_tile_descriptors=[64*0,99,0,99,0,99,0] --expect 'out[0] == 1 && out[1] == 2 && out[2] == 3'
#include <cub/agent/single_pass_scan_operators.cuh>

using State = cub::ScanTileState<int>;

extern "C" __global__ void scan(State state, int *out) {
  int tile = blockIdx.x, sum = 1;
  if (tile > 0) {
    state.SetPartial(tile, sum);
    State::StatusWord status = 0;
    for (int at = tile - 1; at >= 0 && status != State::StatusWord(cub::SCAN_TILE_INCLUSIVE); at--) {
      int value;
      state.WaitForValid(at, status, value);
      sum += value;
    }
  }
  state.SetInclusive(tile, sum);
  out[tile] = sum;
}
