// A counting semaphore of libcu++ as a lock: two blocks increment a counter between acquire and release.
// synth check: --grid 2 --arg s=[1] --expect 'data[0] == 2'
#include <cuda/semaphore>

extern "C" __global__ void semaphore(cuda::counting_semaphore<cuda::thread_scope_device> *s, int *data) {
  s->acquire();
  data[0] = data[0] + 1;
  s->release();
}
