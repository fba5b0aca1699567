// A bulk copy into shared memory, for which both threads wait at an mbarrier.
// synth check: --block 2 --warp 1 --arg 'in=[5,6]' --arg 'out=int[2]' --expect 'out[0] == 5 && out[1] == 6'
#include <cstdint>

__device__ uint32_t at(const void *p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }

// Wait until a phase of an mbarrier is complete.
__device__ void wait(uint32_t barrier, uint32_t parity) {
  asm volatile(
      "{ .reg .pred p;\n"
      "WAIT: mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 p, [%0], %1;\n"
      "@!p bra WAIT; }" ::"r"(barrier), "r"(parity) : "memory");
}

extern "C" __global__ void bulk_load(const int *in, int *out) {
  __shared__ alignas(16) int tile[4];
  __shared__ uint64_t barrier;
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(&barrier)) : "memory");
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], 16;" ::"r"(at(&barrier)) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 16, [%2];" ::"r"(at(tile)),
                 "l"(in), "r"(at(&barrier)) : "memory");
  }
  wait(at(&barrier), 0);
  out[threadIdx.x] = tile[threadIdx.x];
}
