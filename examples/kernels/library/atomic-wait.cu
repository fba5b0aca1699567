// libcu++'s atomic wait and notify: block 1 waits until the flag is no longer 0.
// synth check: --grid 2 --expect 'data[1] == 1'
#include <cuda/atomic>

extern "C" __global__ void hand_over(int *flag, int *data) {
  cuda::atomic_ref<int, cuda::thread_scope_device> ready(*flag);
  if (blockIdx.x == 0) {
    data[0] = 1;
    ready.store(1, cuda::std::memory_order_release);
    ready.notify_all();
  } else {
    ready.wait(0, cuda::std::memory_order_acquire);
    data[1] = data[0];
  }
}
