// Initialisation by the first work-group that comes: the others wait until it is done.
// synth check: --grid 2 --expect 'result[0] == 7 && result[1] == 7'
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model
#define RELEASE gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsRelease | gl_SemanticsMakeAvailable
#define ACQUIRE gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsAcquire | gl_SemanticsMakeVisible
layout(local_size_x = 1) in;
layout(binding = 0) buffer State { int state; };
layout(binding = 1) nonprivate buffer Value { int value; };
layout(binding = 2) buffer Result { int result[]; };

void main() {
  if (atomicCompSwap(state, 0, 1) == 0) {
    value = 7;
    atomicStore(state, 2, RELEASE);
  }
  while (atomicLoad(state, ACQUIRE) != 2) {}
  result[gl_WorkGroupID.x] = value;
}
