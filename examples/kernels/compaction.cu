// Stream compaction: each block whose item is kept draws a place behind those that others drew.
// synth check: --grid 2 --arg 'in=[3,4]' --arg 'out=int[2]' --expect '(out[0] == 3 && out[1] == 4) || (out[0] == 4 && out[1] == 3)'
extern "C" __global__ void compaction(const int *in, int *count, int *out) {
  int item = in[blockIdx.x];
  if (item > 0) out[atomicAdd(count, 1)] = item;
}
