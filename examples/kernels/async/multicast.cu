// A bulk copy to both blocks of a cluster, each of which waits at its own mbarrier.
// synth check: --grid 2 --block 1 --cluster 2 --arg 'in=[5,6,7,8]' --arg 'out=int[2]' --expect 'out[0] == 5 && out[1] == 5'
#include <cstdint>

__device__ uint32_t at(const void *p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }

// Wait until the first phase of an mbarrier is complete; whoever asked for the copy is in the cluster.
__device__ void wait(uint32_t barrier) {
  asm volatile(
      "{ .reg .pred p;\n"
      "WAIT: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], 0;\n"
      "@!p bra WAIT; }" ::"r"(barrier) : "memory");
}

extern "C" __global__ void __cluster_dims__(2, 1, 1) multicast(const int *in, int *out) {
  __shared__ alignas(16) int tile[4];
  __shared__ alignas(8) uint64_t barrier;
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(&barrier)) : "memory");
  asm volatile("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], 16;" ::"r"(at(&barrier)) : "memory");
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
  if (blockIdx.x == 0) {
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], 16, [%2], %3;" ::"r"(
            at(tile)),
        "l"(in), "r"(at(&barrier)), "h"(static_cast<uint16_t>(3)) : "memory");
  }
  wait(at(&barrier));
  out[blockIdx.x] = tile[0];
}
