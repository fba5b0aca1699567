// A work-stealing deque of two items (Chase and Lev 2005): the owner takes one from the bottom, a thief steals from the
// top twice. Vulkan has no sequential consistency. So the owner and the thief look at each other's end by read-modify-
// writes, each of which reads what the one before it wrote. taken[i] counts how often item i is taken.
// synth check: --grid 2 --arg 'bottom=[2]' --expect 'taken[1] == 1'
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model
#define RELAXED gl_ScopeDevice, 0, 0
#define BOTH gl_SemanticsAcquireRelease | gl_SemanticsMakeAvailable | gl_SemanticsMakeVisible
layout(local_size_x = 1) in;
layout(binding = 0) buffer Top { int top; };
layout(binding = 1) buffer Bottom { int bottom; };
layout(binding = 2) buffer Taken { int taken[]; };

void main() {
  if (gl_WorkGroupID.x == 0) {
    atomicExchange(bottom, 1, gl_ScopeDevice, gl_StorageSemanticsBuffer, BOTH);
    const int first = atomicAdd(top, 0, gl_ScopeDevice, gl_StorageSemanticsBuffer, BOTH);
    if (first < 1) {
      atomicAdd(taken[1], 1);
    } else {
      if (first == 1 && atomicCompSwap(top, 1, 2) == 1) atomicAdd(taken[1], 1);
      atomicStore(bottom, 2, RELAXED);
    }
  } else {
    for (int turn = 0; turn < 2; turn++) {
      const int first = atomicAdd(top, 0, gl_ScopeDevice, gl_StorageSemanticsBuffer, BOTH);
      const int last = atomicAdd(bottom, 0, gl_ScopeDevice, gl_StorageSemanticsBuffer, BOTH);
      if (first >= last) break;
      if (atomicCompSwap(top, first, first + 1) == first) atomicAdd(taken[first], 1);
    }
  }
}
