// CUTLASS' ClusterTransactionBarrier: a bulk copy, and the block that waits for it.
// synth check: --block 2 --warp 1 --arg 'in=[5,6,7,8]' --arg 'out=int[2]' --expect 'out[0] == 5 && out[1] == 6'
#include <cutlass/arch/barrier.h>
#include <cute/arch/copy_sm90_desc.hpp>
#include <cute/arch/copy_sm90_tma.hpp>

extern "C" __global__ void load(const int *in, int *out) {
  __shared__ alignas(16) int tile[4];
  __shared__ cutlass::arch::ClusterTransactionBarrier::ValueType barrier;
  using Barrier = cutlass::arch::ClusterTransactionBarrier;
  if (threadIdx.x == 0) {
    Barrier::init(&barrier, 1);
    cutlass::arch::fence_barrier_init();
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    Barrier::arrive_and_expect_tx(&barrier, 16);
    cute::SM90_BULK_COPY_G2S::copy(in, &barrier, tile, 16);
  }
  Barrier::wait(&barrier, 0);
  out[threadIdx.x] = tile[threadIdx.x];
}
