// Stream compaction into an array that has no room for all that is kept: the place is known only when the kernel runs.
// synth check: --grid 2 --arg 'in=[5,7]' --arg 'out=int[1]'
extern "C" __global__ void compaction_overflow(const int *in, int *count, int *out) {
  int value = in[blockIdx.x];
  if (value > 0) out[atomicAdd(count, 1)] = value;
}
