// Insertion into a hash table that looks whether a place is free and then takes it: both work-groups may take one
// place.
// synth check: --grid 2 --expect '(keys[1] == 1 && keys[0] == 3) || (keys[1] == 3 && keys[0] == 1)'
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model
#define RELAXED gl_ScopeDevice, 0, 0
layout(local_size_x = 1) in;
layout(binding = 0) buffer Keys { uint keys[]; };

void main() {
  const uint key = 1 + 2 * gl_WorkGroupID.x;
  for (uint at = key % 2, turn = 0; turn < 2; at = (at + 1) % 2, turn++) {
    const uint there = atomicLoad(keys[at], RELAXED);
    if (there == 0) atomicStore(keys[at], key, RELAXED);
    if (there == 0 || there == key) break;
  }
}
