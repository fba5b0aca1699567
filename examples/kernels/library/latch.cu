// libcu++'s latch of two blocks that exchange values.
// synth check: --grid 2 --arg l=[2] --expect 'data[2] == 1 && data[3] == 1'
#include <cuda/latch>

extern "C" __global__ void meet(cuda::latch<cuda::thread_scope_device> *l, int *data) {
  data[blockIdx.x] = 1;
  l->arrive_and_wait();
  data[2 + blockIdx.x] = data[1 - blockIdx.x];
}
