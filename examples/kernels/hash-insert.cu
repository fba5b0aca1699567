// Insertion into a hash table with linear probing: a place is taken by compare-and-swap from 0 to the key.
// Two blocks insert 1 and 3, which have the same first place.
// synth check: --grid 2 --expect '(keys[1] == 1 && keys[0] == 3) || (keys[1] == 3 && keys[0] == 1)'
extern "C" __global__ void hash_insert(int *keys) {
  int key = 1 + 2 * blockIdx.x;
  for (int at = key % 2;; at = (at + 1) % 2) {
    int there = atomicCAS(&keys[at], 0, key);
    if (there == 0 || there == key) break;
  }
}
