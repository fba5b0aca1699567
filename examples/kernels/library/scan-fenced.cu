// CUB's decoupled look-back for a value too large to be packed with its status: values are written before the status,
// with a release and an acquire between them.
#include <cub/agent/single_pass_scan_operators.cuh>

struct Pair {
  long long a, b;
};

struct Plus {
  __device__ Pair operator()(Pair a, Pair b) const { return {a.a + b.a, a.b + b.b}; }
};

extern "C" __global__ void scan(cub::ScanTileState<Pair> state, long long *out) {
  using Prefix = cub::TilePrefixCallbackOp<Pair, Plus, cub::ScanTileState<Pair>>;
  __shared__ typename Prefix::TempStorage temp;
  int tile = blockIdx.x;
  if (tile == 0) {
    if (threadIdx.x == 0) {
      state.SetInclusive(0, Pair{1, 1});
      out[0] = 1;
    }
  } else {
    Prefix prefix(state, temp, Plus(), tile);
    Pair before = prefix(Pair{1, 1});
    if (threadIdx.x == 0) out[tile] = before.a + 1;
  }
}
