// libcu++'s atomic_ref over a flag that hands a value over by release and acquire.
// synth check: --grid 2 --expect 'data[1] == 1'
#include <cuda/atomic>

extern "C" __global__ void hand_over(int *flag, int *data) {
  cuda::atomic_ref<int, cuda::thread_scope_device> ready(*flag);
  if (blockIdx.x == 0) {
    data[0] = 1;
    ready.store(1, cuda::std::memory_order_release);
  } else {
    while (ready.load(cuda::std::memory_order_acquire) == 0) {}
    data[1] = data[0];
  }
}
