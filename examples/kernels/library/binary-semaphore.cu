// A binary semaphore of libcu++ that hands a value over: block 0 writes and releases, block 1 acquires and reads.
// synth check: --grid 2 --expect 'data[1] == 1'
#include <cuda/semaphore>

extern "C" __global__ void hand_over(cuda::binary_semaphore<cuda::thread_scope_device> *s, int *data) {
  if (blockIdx.x == 0) {
    data[0] = 1;
    s->release();
  } else {
    s->acquire();
    data[1] = data[0];
  }
}
