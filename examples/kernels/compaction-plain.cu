// Stream compaction whose count is plain: two blocks may draw one place.
// synth check: --grid 2 --arg 'in=[3,4]' --arg 'out=int[2]' --expect 'out[0] > 0 && out[1] > 0'
extern "C" __global__ void compaction_plain(const int *in, int *count, int *out) {
  int item = in[blockIdx.x];
  if (item > 0) {
    int place = *count;
    *count = place + 1;
    out[place] = item;
  }
}
