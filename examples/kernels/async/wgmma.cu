// A warpgroup writes the operands of a product into shared memory, and fences them for the async proxy.
// synth check: --block 1
#include <cstdint>

// The descriptor of a matrix without swizzling whose rows are in blocks of 8, 128 bytes apart, and 256 bytes down.
__device__ uint64_t described(const void *p) {
  uint64_t at = static_cast<uint32_t>(__cvta_generic_to_shared(p));
  return (at & 0x3FFFF) >> 4 | static_cast<uint64_t>(128 >> 4) << 16 | static_cast<uint64_t>(256 >> 4) << 32;
}

extern "C" __global__ void wgmma(float *out) {
  __shared__ __align__(128) uint32_t a[512], b[64];
  float d[4];
  a[threadIdx.x] = 1;
  b[threadIdx.x] = 2;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile(
      "{ .reg .pred p;\n"
      "setp.ne.b32 p, %6, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, p, 1, 1, 0, 0; }"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "l"(described(a)), "l"(described(b)), "r"(0)
      : "memory");
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  a[threadIdx.x] = 3;
  out[threadIdx.x] = d[0];
}
