// The ticket lock whose number served is volatile, without memory barriers: volatile accesses are not atomic.
// synth check: --grid 2 --expect 'x == 2'
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model
layout(local_size_x = 1) in;
layout(binding = 0) buffer Next { int next; };
layout(binding = 1) volatile buffer Serving { int serving; };
layout(binding = 2) nonprivate buffer X { int x; };

void main() {
  const int mine = atomicAdd(next, 1);
  while (serving != mine) {}
  x += 1;
  serving = mine + 1;
}
