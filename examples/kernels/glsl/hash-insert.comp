// Insertion into a hash table with linear probing: a place is taken by compare-and-swap from 0 to the key. Two work-
// groups insert 1 and 3, which have the same first place.
// synth check: --grid 2 --expect '(keys[1] == 1 && keys[0] == 3) || (keys[1] == 3 && keys[0] == 1)'
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model
layout(local_size_x = 1) in;
layout(binding = 0) buffer Keys { uint keys[]; };

void main() {
  const uint key = 1 + 2 * gl_WorkGroupID.x;
  for (uint at = key % 2;; at = (at + 1) % 2) {
    const uint there = atomicCompSwap(keys[at], 0, key);
    if (there == 0 || there == key) break;
  }
}
