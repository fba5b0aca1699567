// Memory decides which of two barriers a thread comes to.
// synth check: --block 2 --arg c=[1]
extern "C" __global__ void syncthreads_memory(int *c, int *a) {
  int me = threadIdx.x;
  if (me < c[0]) {
    __syncthreads();
  } else {
    a[me] = 1;
    __syncthreads();
  }
}
