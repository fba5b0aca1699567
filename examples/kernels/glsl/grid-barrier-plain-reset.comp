// The barrier of all work-groups whose last one sets the count back by a plain store: each of the others has counted
// itself in behind its memory barrier, which orders what is before it.
// synth check: --grid 3 --expect 'result[0] == 1 && result[1] == 1 && result[2] == 1'
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model
#define RELEASE gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsRelease | gl_SemanticsMakeAvailable
#define ACQUIRE gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsAcquire | gl_SemanticsMakeVisible
#define BOTH gl_SemanticsAcquireRelease | gl_SemanticsMakeAvailable | gl_SemanticsMakeVisible
layout(local_size_x = 1) in;
layout(binding = 0) nonprivate buffer Count { uint count; };
layout(binding = 1) buffer Sense { int sense; };
layout(binding = 2) nonprivate buffer X { int x[]; };
layout(binding = 3) buffer Result { int result[]; };

void main() {
  const uint n = gl_NumWorkGroups.x, me = gl_WorkGroupID.x;
  x[me] = 1;
  memoryBarrier(gl_ScopeDevice, gl_StorageSemanticsBuffer, BOTH);
  if (atomicAdd(count, 1) == n - 1) {
    memoryBarrier(gl_ScopeDevice, gl_StorageSemanticsBuffer, BOTH);
    count = 0;
    atomicStore(sense, 1, RELEASE);
  } else {
    while (atomicLoad(sense, ACQUIRE) == 0) {}
  }
  result[me] = x[(me + 1) % n];
}
