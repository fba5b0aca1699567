// libcu++'s memcpy_async of 16 bytes, which completes at a barrier of the block.
// synth check: --block 1 --arg 'in=[5,6,7,8]' --arg 'out=int[1]' --expect 'out[0] == 5'
#include <cuda/barrier>

extern "C" __global__ void fetch(const int4 *in, int *out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> b;
  __shared__ alignas(16) int4 tile[1];
  if (threadIdx.x == 0) init(&b, 1);
  __syncthreads();
  cuda::memcpy_async(tile, in, cuda::aligned_size_t<16>(16), b);
  b.arrive_and_wait();
  out[0] = tile[0].x;
}
