// Message passing by inline PTX: a store that releases and, behind it, a relaxed one to the same flag; and the same with
// the relaxed one to another flag, of which the release says nothing.
// synth check: --grid 2 --expect 'out == 0 || out == 2'
__device__ void release(int *flag, int value) {
  asm volatile("st.release.gpu.s32 [%0], %1;" ::"l"(flag), "r"(value) : "memory");
}
__device__ void relaxed(int *flag, int value) {
  asm volatile("st.relaxed.gpu.s32 [%0], %1;" ::"l"(flag), "r"(value) : "memory");
}
__device__ int acquire(int *flag) {
  int found;
  asm volatile("ld.acquire.gpu.s32 %0, [%1];" : "=r"(found) : "l"(flag) : "memory");
  return found;
}
extern "C" __global__ void mp_release_then_relaxed(int *data, int *flag, int *out) {
  if (blockIdx.x == 0) {
    *data = 1;
    release(flag, 1);
    relaxed(flag, 2);
  } else if (acquire(flag) == 2) {
    *out = 1 + *data;
  }
}
extern "C" __global__ void mp_release_elsewhere(int *data, int *flag, int *other, int *out) {
  if (blockIdx.x == 0) {
    *data = 1;
    release(other, 1);
    relaxed(flag, 2);
  } else if (acquire(flag) == 2) {
    *out = 1 + *data;
  }
}
