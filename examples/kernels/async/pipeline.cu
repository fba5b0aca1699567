// Two copies in two groups, each waited for before its data are used.
// synth check: --block 1 --arg 'in=[5,6]' --arg 'out=int[2]' --expect 'out[0] == 5 && out[1] == 6'
#include <cstdint>

__device__ uint32_t at(const void *p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }

__device__ void copy(int *to, const int *from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(at(to)), "l"(from) : "memory");
  asm volatile("cp.async.commit_group;" ::: "memory");
}

extern "C" __global__ void pipeline(const int *in, int *out) {
  __shared__ int stage[2];
  copy(&stage[0], &in[0]);
  copy(&stage[1], &in[1]);
  asm volatile("cp.async.wait_group 1;" ::: "memory");
  out[0] = stage[0];
  asm volatile("cp.async.wait_group 0;" ::: "memory");
  out[1] = stage[1];
}
