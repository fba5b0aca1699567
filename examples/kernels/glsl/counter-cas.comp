// A counter with a limit, by compare-and-swap until nobody has come between.
// synth check: --grid 2 --arg limit=1 --expect 'count == 1'
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model
#define RELAXED gl_ScopeDevice, 0, 0
layout(local_size_x = 1) in;
layout(binding = 0) buffer Count { int count; };
layout(push_constant) uniform Limits { int limit; };

void main() {
  int old = atomicLoad(count, RELAXED);
  while (old < limit) {
    const int seen = atomicCompSwap(count, old, old + 1);
    if (seen == old) break;
    old = seen;
  }
}
