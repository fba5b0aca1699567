// Two blocks of a cluster, each of which reads what the other has written: between the two halves of the barrier of the
// cluster a block does other work. cooperative groups' barrier_arrive() and barrier_wait() are these halves.
// synth check: --grid 2 --cluster 2 --expect 'out[0] == 2 && out[1] == 1'
__device__ int *other(int *own) {
  return (int *)__cluster_map_shared_rank(own, __clusterRelativeBlockRank() ^ 1);
}

extern "C" __global__ void cluster_halves(int *out, int *more) {
  __shared__ int mine;
  mine = blockIdx.x + 1;
  __cluster_barrier_arrive();
  more[blockIdx.x] = 7;
  __cluster_barrier_wait();
  out[blockIdx.x] = *other(&mine);
}

// What a block writes after it has arrived, the barrier orders not.
extern "C" __global__ void cluster_halves_late(int *out) {
  __shared__ int mine;
  __cluster_barrier_arrive();
  mine = blockIdx.x + 1;
  __cluster_barrier_wait();
  out[blockIdx.x] = *other(&mine);
}

// An arrival that is relaxed releases nothing, unless a fence is before it.
extern "C" __global__ void cluster_halves_relaxed(int *out) {
  __shared__ int mine;
  mine = blockIdx.x + 1;
  __cluster_barrier_arrive_relaxed();
  __cluster_barrier_wait();
  out[blockIdx.x] = *other(&mine);
}
extern "C" __global__ void cluster_halves_relaxed_fence(int *out) {
  __shared__ int mine;
  mine = blockIdx.x + 1;
  asm volatile("fence.acq_rel.cluster;" ::: "memory");
  __cluster_barrier_arrive_relaxed();
  __cluster_barrier_wait();
  out[blockIdx.x] = *other(&mine);
}

// Nobody arrives before it has waited.
extern "C" __global__ void cluster_halves_swapped(int *out) {
  __shared__ int mine;
  mine = blockIdx.x + 1;
  __cluster_barrier_wait();
  __cluster_barrier_arrive();
  out[blockIdx.x] = mine;
}
