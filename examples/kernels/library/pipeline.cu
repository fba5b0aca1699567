// libcu++'s pipeline of one thread.
// synth check: --block 1 --arg 'in=[5,6]' --arg 'out=int[2]' --expect 'out[0] == 5'
#include <cuda/pipeline>

extern "C" __global__ void fetch(const int *in, int *out) {
  __shared__ int tile[2];
  auto pipe = cuda::make_pipeline();
  pipe.producer_acquire();
  cuda::memcpy_async(&tile[0], &in[0], cuda::aligned_size_t<4>(4), pipe);
  pipe.producer_commit();
  cuda::pipeline_consumer_wait_prior<0>(pipe);
  out[0] = tile[0];
  pipe.consumer_release();
}
