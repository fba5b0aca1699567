// Insertion into a hash table that looks whether a place is free and then takes it: both blocks may take one place.
// synth check: --grid 2 --expect '(keys[1] == 1 && keys[0] == 3) || (keys[1] == 3 && keys[0] == 1)'
extern "C" __global__ void hash_insert_check_then_set(volatile int *keys) {
  int key = 1 + 2 * blockIdx.x;
  for (int at = key % 2;; at = (at + 1) % 2) {
    int there = keys[at];
    if (there == 0) keys[at] = key;
    if (there == 0 || there == key) break;
  }
}
