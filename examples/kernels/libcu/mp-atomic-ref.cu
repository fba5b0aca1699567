// Message passing by cuda::atomic_ref: release and acquire at device scope, at block scope, and relaxed.
// synth check: --grid 2 --expect 'out == 0 || out == 2'
#include <cuda/atomic>
template <cuda::thread_scope scope>
__device__ void pass(int *data, int *flag, int *out, cuda::memory_order store, cuda::memory_order load) {
  cuda::atomic_ref<int, scope> ready(*flag);
  if (blockIdx.x == 0) {
    *data = 1;
    ready.store(1, store);
  } else if (ready.load(load) == 1) {
    *out = 1 + *data;
  }
}
extern "C" __global__ void ref_device(int *data, int *flag, int *out) {
  pass<cuda::thread_scope_device>(data, flag, out, cuda::memory_order_release, cuda::memory_order_acquire);
}
extern "C" __global__ void ref_block(int *data, int *flag, int *out) {
  pass<cuda::thread_scope_block>(data, flag, out, cuda::memory_order_release, cuda::memory_order_acquire);
}
extern "C" __global__ void ref_relaxed(int *data, int *flag, int *out) {
  pass<cuda::thread_scope_device>(data, flag, out, cuda::memory_order_relaxed, cuda::memory_order_relaxed);
}
