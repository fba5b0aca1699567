// A block polls a flag through the generic proxy, and then reads the data by a bulk copy.
// synth check: --grid 2 --block 1 --expect 'out[0] == 5'
#include <cstdint>

__device__ uint32_t at(const void *p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }

// Wait until a phase of an mbarrier is complete.
__device__ void wait(uint32_t barrier, uint32_t parity) {
  asm volatile(
      "{ .reg .pred p;\n"
      "WAIT: mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 p, [%0], %1;\n"
      "@!p bra WAIT; }" ::"r"(barrier), "r"(parity) : "memory");
}

extern "C" __global__ void poll(int *data, int *flag, int *out) {
  __shared__ alignas(16) int tile[4];
  __shared__ uint64_t barrier;
  if (blockIdx.x == 0) {
    data[0] = 5;
    asm volatile("st.release.gpu.global.s32 [%0], 1;" ::"l"(flag) : "memory");
  } else {
    int seen;
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(&barrier)) : "memory");
    do {
      asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
    } while (seen == 0);
    asm volatile("fence.proxy.async.global;" ::: "memory");
    asm volatile("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], 16;" ::"r"(at(&barrier)) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 16, [%2];" ::"r"(at(tile)),
                 "l"(data), "r"(at(&barrier)) : "memory");
    wait(at(&barrier), 0);
    out[0] = tile[0];
  }
}
