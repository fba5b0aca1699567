// Threads 0 and 2 synchronise their pairs, and not each other.
// synth check: --block 4 --warp 4
extern "C" __global__ void syncwarp_masks(int *a, int *out) {
  int me = threadIdx.x;
  if (me == 2) {
    a[0] = 1;
    __syncwarp(12);
  }
  if (me == 0) {
    __syncwarp(3);
    out[0] = a[0];
  }
}
