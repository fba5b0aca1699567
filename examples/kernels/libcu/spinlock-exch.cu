// A lock by cuda::atomic_ref: taken by exchange with acquire, given back by a store with release, or a relaxed one.
// synth check: --grid 2 --expect 'x == 2'
#include <cuda/atomic>
template <typename Order>
__device__ void add(int *mutex, int *x, Order unlock) {
  cuda::atomic_ref<int, cuda::thread_scope_device> lock(*mutex);
  while (lock.exchange(1, cuda::memory_order_acquire) != 0) {}
  *x += 1;
  lock.store(0, unlock);
}
extern "C" __global__ void ref_lock(int *mutex, int *x) { add(mutex, x, cuda::memory_order_release); }
extern "C" __global__ void ref_lock_relaxed(int *mutex, int *x) { add(mutex, x, cuda::memory_order_relaxed); }
