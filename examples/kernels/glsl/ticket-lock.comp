// A ticket lock: each work-group draws a number and waits until it is served.
// synth check: --grid 2 --expect 'x == 2'
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model
#define RELEASE gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsRelease | gl_SemanticsMakeAvailable
#define ACQUIRE gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsAcquire | gl_SemanticsMakeVisible
layout(local_size_x = 1) in;
layout(binding = 0) buffer Next { int next; };
layout(binding = 1) buffer Serving { int serving; };
layout(binding = 2) nonprivate buffer X { int x; };

void main() {
  const int mine = atomicAdd(next, 1);
  while (atomicLoad(serving, ACQUIRE) != mine) {}
  x += 1;
  atomicStore(serving, mine + 1, RELEASE);
}
