// CUTLASS' semaphore, by which blocks take turns, as the parts of a split-K GEMM do.
// synth check: --grid 2 --block 2 --expect 'data[0] == 2'
#include <cutlass/semaphore.h>

extern "C" __global__ void turns(int *lock, int *data) {
  cutlass::Semaphore semaphore(lock, threadIdx.x);
  semaphore.fetch();
  semaphore.wait(blockIdx.x);
  if (threadIdx.x == 0) data[0] = data[0] + 1;
  semaphore.release(blockIdx.x + 1);
}
