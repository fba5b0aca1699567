// A work-stealing deque of two items (Chase and Lev 2005): the owner takes one from the bottom, a thief steals from the
// top until there is none. taken[i] counts how often item i is taken.
// synth check: --grid 2 --arg 'bottom=[2]' --expect 'taken[1] == 1'
extern "C" __global__ void deque(int *top, int *bottom, int *taken) {
  if (blockIdx.x == 0) {
    __nv_atomic_store_n(bottom, 1, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    __threadfence();
    int first = __nv_atomic_load_n(top, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    if (first < 1) {
      atomicAdd(&taken[1], 1);
    } else {
      if (first == 1 && atomicCAS(top, 1, 2) == 1) atomicAdd(&taken[1], 1);
      __nv_atomic_store_n(bottom, 2, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    }
  } else {
    while (true) {
      int first = __nv_atomic_load_n(top, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE);
      __threadfence();
      int last = __nv_atomic_load_n(bottom, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE);
      if (first >= last) break;
      if (atomicCAS(top, first, first + 1) == first) atomicAdd(&taken[first], 1);
    }
  }
}
