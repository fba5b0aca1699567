// As bulk-store, and the wait allows one group that has not read its source.
// synth check: --block 2 --warp 1
#include <cstdint>

__device__ uint32_t at(const void *p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }

extern "C" __global__ void bulk_store_off_by_one(int *out) {
  __shared__ alignas(16) int tile[4];
  tile[2 * threadIdx.x] = threadIdx.x + 1;
  tile[2 * threadIdx.x + 1] = threadIdx.x + 1;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 16;" ::"l"(out), "r"(at(tile)) : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
    tile[0] = 7;
  }
}
