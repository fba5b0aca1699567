// Message passing by relaxed atomics between fences: on both sides, on the writer's alone, on the reader's alone, and of
// a scope without the other block.
// synth check: --grid 2 --expect 'out == 0 || out == 2'
__device__ void set(int *flag) { atomicExch(flag, 1); }
__device__ bool is_set(int *flag) { return atomicAdd(flag, 0) == 1; }
extern "C" __global__ void mp_fences(int *data, int *flag, int *out) {
  if (blockIdx.x == 0) {
    *data = 1;
    __threadfence();
    set(flag);
  } else if (is_set(flag)) {
    __threadfence();
    *out = 1 + *data;
  }
}
extern "C" __global__ void mp_fence_of_writer(int *data, int *flag, int *out) {
  if (blockIdx.x == 0) {
    *data = 1;
    __threadfence();
    set(flag);
  } else if (is_set(flag)) {
    *out = 1 + *data;
  }
}
extern "C" __global__ void mp_fence_of_reader(int *data, int *flag, int *out) {
  if (blockIdx.x == 0) {
    *data = 1;
    set(flag);
  } else if (is_set(flag)) {
    __threadfence();
    *out = 1 + *data;
  }
}
extern "C" __global__ void mp_fences_of_block(int *data, int *flag, int *out) {
  if (blockIdx.x == 0) {
    *data = 1;
    __threadfence_block();
    set(flag);
  } else if (is_set(flag)) {
    __threadfence_block();
    *out = 1 + *data;
  }
}
