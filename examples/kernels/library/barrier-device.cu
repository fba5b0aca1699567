// libcu++'s barrier of a device, of two blocks that exchange values. Its word holds what is expected and what has come.
// synth check: --grid 2 --arg b=[9223372030412324862] --expect 'data[2] == 1 && data[3] == 1'
#include <cuda/barrier>

extern "C" __global__ void meet(cuda::barrier<cuda::thread_scope_device> *b, int *data) {
  data[blockIdx.x] = 1;
  b->arrive_and_wait();
  data[2 + blockIdx.x] = data[1 - blockIdx.x];
}
