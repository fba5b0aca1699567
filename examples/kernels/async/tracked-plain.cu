// As tracked, with an arrival that does not track the copy.
// synth check: --block 2 --warp 1 --arg 'in=[5]' --expect 'out[0] == 5'
#include <cstdint>

__device__ uint32_t at(const void *p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }

// Wait until a phase of an mbarrier is complete.
__device__ void wait(uint32_t barrier, uint32_t parity) {
  asm volatile(
      "{ .reg .pred p;\n"
      "WAIT: mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 p, [%0], %1;\n"
      "@!p bra WAIT; }" ::"r"(barrier), "r"(parity) : "memory");
}

extern "C" __global__ void tracked_plain(const int *in, int *out) {
  __shared__ int tile[1];
  __shared__ uint64_t barrier;
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(&barrier)) : "memory");
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(at(tile)), "l"(in) : "memory");
    asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0];" ::"r"(at(&barrier)) : "memory");
  } else {
    wait(at(&barrier), 0);
    out[0] = tile[0];
  }
}
