// libcu++'s barrier of a block, of two threads that exchange values through shared memory.
// synth check: --block 2 --expect 'out[0] == 1 && out[1] == 1'
#include <cuda/barrier>

extern "C" __global__ void meet(int *out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> b;
  __shared__ int data[2];
  if (threadIdx.x == 0) init(&b, 2);
  __syncthreads();
  data[threadIdx.x] = 1;
  b.arrive_and_wait();
  out[threadIdx.x] = data[1 - threadIdx.x];
}
