// The work-stealing deque with loads and stores between memory barriers, as where fences are sequentially consistent:
// Vulkan's are not, and both may take the last item (Le et al. 2013).
// synth check: --grid 2 --arg 'bottom=[2]' --expect 'taken[1] == 1'
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model
#define RELAXED gl_ScopeDevice, 0, 0
#define ACQUIRE gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsAcquire | gl_SemanticsMakeVisible
#define BOTH gl_SemanticsAcquireRelease | gl_SemanticsMakeAvailable | gl_SemanticsMakeVisible
layout(local_size_x = 1) in;
layout(binding = 0) buffer Top { int top; };
layout(binding = 1) buffer Bottom { int bottom; };
layout(binding = 2) buffer Taken { int taken[]; };

void main() {
  if (gl_WorkGroupID.x == 0) {
    atomicStore(bottom, 1, RELAXED);
    memoryBarrier(gl_ScopeDevice, gl_StorageSemanticsBuffer, BOTH);
    const int first = atomicLoad(top, RELAXED);
    if (first < 1) {
      atomicAdd(taken[1], 1);
    } else {
      if (first == 1 && atomicCompSwap(top, 1, 2) == 1) atomicAdd(taken[1], 1);
      atomicStore(bottom, 2, RELAXED);
    }
  } else {
    for (int turn = 0; turn < 2; turn++) {
      const int first = atomicLoad(top, ACQUIRE);
      memoryBarrier(gl_ScopeDevice, gl_StorageSemanticsBuffer, BOTH);
      const int last = atomicLoad(bottom, ACQUIRE);
      if (first >= last) break;
      if (atomicCompSwap(top, first, first + 1) == first) atomicAdd(taken[first], 1);
    }
  }
}
