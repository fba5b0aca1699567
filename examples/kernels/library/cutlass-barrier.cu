// CUTLASS' GenericBarrier: block 0 arrives when all its threads have written, block 1 waits for it.
// synth check: --grid 2 --block 2 --expect 'data[2] == 1 && data[3] == 1'
#include <cutlass/barrier.h>

extern "C" __global__ void hand_over(int *flag, int *data) {
  if (blockIdx.x == 0) {
    data[threadIdx.x] = 1;
    cutlass::Barrier::arrive_inc(flag, threadIdx.x, 0);
  } else {
    cutlass::Barrier::wait_eq(flag, threadIdx.x, 0, 1);
    data[2 + threadIdx.x] = data[1 - threadIdx.x];
  }
}
