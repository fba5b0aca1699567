// CUB's decoupled look-back, one thread a tile, of values too large to be packed with their status: they are written
// before it, and it is a release; the reader has a fence. Each tile's sum is 1.
// synth check: --grid 3 --arg state.d_tile_status=[32*0,99,99,99] --expect 'out[0] == 1 && out[1] == 2 && out[2] == 3'
#include <cub/agent/single_pass_scan_operators.cuh>

struct Large {
  long long value, more;
};

using State = cub::ScanTileState<Large>;

extern "C" __global__ void scan(State state, long long *out) {
  int tile = blockIdx.x;
  long long sum = 1;
  if (tile > 0) {
    state.SetPartial(tile, Large{sum, 0});
    State::StatusWord status = 0;
    for (int at = tile - 1; at >= 0 && status != State::StatusWord(cub::SCAN_TILE_INCLUSIVE); at--) {
      Large large;
      state.WaitForValid(at, status, large);
      sum += large.value;
    }
  }
  state.SetInclusive(tile, Large{sum, 0});
  out[tile] = sum;
}
