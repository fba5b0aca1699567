// A flag and a count in one word of 64 bits, written and read whole: no fence is needed.
// synth check: --grid 2 --expect 'out == 0 || out == 5'
extern "C" __global__ void packed(unsigned long long *word, unsigned *out) {
  if (blockIdx.x == 0) {
    atomicExch(word, 1ull << 32 | 5);
  } else {
    unsigned long long found = atomicAdd(word, 0ull);
    if (found >> 32 == 1) *out = (unsigned)found;
  }
}
