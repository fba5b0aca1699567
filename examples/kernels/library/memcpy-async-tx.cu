// libcu++'s cp_async_bulk and a barrier with a transaction count.
// synth check: --block 1 --arg 'in=[5,6,7,8]' --arg 'out=int[1]' --expect 'out[0] == 5'
#include <cuda/barrier>
#include <cuda/ptx>

extern "C" __global__ void fetch(const int *in, int *out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> b;
  __shared__ alignas(16) int tile[4];
  init(&b, 1);
  cuda::device::experimental::fence_proxy_async_shared_cta();
  cuda::device::memcpy_async_tx(tile, in, cuda::aligned_size_t<16>(16), b);
  auto token = cuda::device::barrier_arrive_tx(b, 1, 16);
  b.wait(std::move(token));
  out[0] = tile[0];
}
