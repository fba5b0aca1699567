// Tensor copies of two boxes into shared memory, with a count of bytes that is of one of them.
// synth check: --block 1 --arg 'in=[5,6,7,8]' --arg 'out=int[4]' --expect 'out_0_16[0] == 10'
#include <cstdint>

struct alignas(64) TensorMap {
  char data[128];
};

__device__ uint32_t at(const void *p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }

// Copy the box at some coordinates.
__device__ void load(const int *tile, const TensorMap *map, int x, int y, const uint64_t *barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(
          at(tile)),
      "l"(map), "r"(x), "r"(y), "r"(at(barrier)) : "memory");
}

extern "C" __global__ void tensor_expect_less(const __grid_constant__ TensorMap in, const __grid_constant__ TensorMap out) {
  __shared__ alignas(128) int tile[4], other[4];
  __shared__ alignas(8) uint64_t barrier;
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(&barrier)) : "memory");
  asm volatile("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], 16;" ::"r"(at(&barrier)) : "memory");
  load(tile, &in, 0, 0, &barrier);
  load(other, &in, 0, 16, &barrier);
  asm volatile(
      "{ .reg .pred p;\n"
      "WAIT: mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 p, [%0], 0;\n"
      "@!p bra WAIT; }" ::"r"(at(&barrier)) : "memory");
  tile[0] += other[0];
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&out), "r"(0),
               "r"(16), "r"(at(tile)) : "memory");
  asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
}
