// The lock taken by exchange, with fences of the block between blocks: too narrow a scope.
// synth check: --grid 2 --expect 'x == 2'
// synth check: --block 2 --warp 1 --expect 'x == 2'
extern "C" __global__ void spinlock_exch_fence_block(int *mutex, int *x) {
  while (atomicExch(mutex, 1) != 0) {}
  __threadfence_block();
  *x += 1;
  __threadfence_block();
  atomicExch(mutex, 0);
}
