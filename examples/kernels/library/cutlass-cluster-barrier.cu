// CUTLASS' ClusterBarrier: block 1 of a cluster arrives at the barrier of block 0, which waits for its data.
// synth check: --grid 2 --block 1 --cluster 2 --expect 'out == 1'
#include <cute/arch/cluster_sm90.hpp>
#include <cutlass/arch/barrier.h>

extern "C" __global__ void __cluster_dims__(2, 1, 1) arrive(int *data, int *out) {
  __shared__ cutlass::arch::ClusterBarrier::ValueType barrier;
  using Barrier = cutlass::arch::ClusterBarrier;
  if (blockIdx.x == 0) {
    Barrier::init(&barrier, 1);
    cutlass::arch::fence_barrier_init();
  }
  cute::cluster_sync();
  if (blockIdx.x == 1) {
    *data = 1;
    Barrier::arrive(&barrier, 0, true);
  } else {
    Barrier::wait(&barrier, 0);
    *out = *data;
  }
}
