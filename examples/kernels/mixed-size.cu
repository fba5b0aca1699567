// A flag and a count in one word of 64 bits, written whole and read by halves: PTX says nothing of what is read.
// synth check: --grid 2
extern "C" __global__ void mixed_size(unsigned long long *word, unsigned *out) {
  if (blockIdx.x == 0) {
    atomicExch(word, 1ull << 32 | 5);
  } else {
    volatile unsigned *half = (volatile unsigned *)word;
    if (half[1] == 1) *out = half[0];
  }
}
