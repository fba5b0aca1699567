// A block arrives at the mbarrier of another block of its cluster.
// synth check: --grid 2 --block 1 --cluster 2 --expect 'out[0] == 5'
#include <cstdint>

__device__ uint32_t at(const void *p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }

// Wait until a phase of an mbarrier is complete.
__device__ void wait(uint32_t barrier, uint32_t parity) {
  asm volatile(
      "{ .reg .pred p;\n"
      "WAIT: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], %1;\n"
      "@!p bra WAIT; }" ::"r"(barrier), "r"(parity) : "memory");
}

extern "C" __global__ void __cluster_dims__(2, 1, 1) cluster_arrive(int *data, int *out) {
  __shared__ uint64_t barrier;
  uint32_t rank, remote;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  if (rank == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(&barrier)) : "memory");
  }
  asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
  if (rank == 1) {
    data[0] = 5;
    asm volatile("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(remote) : "r"(at(&barrier)));
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(remote) : "memory");
  } else {
    wait(at(&barrier), 0);
    out[0] = data[0];
  }
}
