// Two blocks of a cluster: each writes into shared memory of its own and reads that of the other.
// synth check: --grid 2 --cluster 2 --expect 'out[0] == 2 && out[1] == 1'
__device__ void meet() {
  __cluster_barrier_arrive();
  __cluster_barrier_wait();
}
__device__ int *other(int *own) {
  return (int *)__cluster_map_shared_rank(own, __clusterRelativeBlockRank() ^ 1);
}
extern "C" __global__ void cluster(int *out) {
  __shared__ int mine;
  mine = blockIdx.x + 1;
  meet();
  out[blockIdx.x] = *other(&mine);
  meet();
}
extern "C" __global__ void cluster_no_barrier(int *out) {
  __shared__ int mine;
  mine = blockIdx.x + 1;
  __syncthreads();
  out[blockIdx.x] = *other(&mine);
}
