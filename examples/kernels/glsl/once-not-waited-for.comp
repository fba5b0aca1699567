// Initialisation by the first work-group that comes, for which the others do not wait.
// synth check: --grid 2 --expect 'result[0] == 7 && result[1] == 7'
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model
#define RELEASE gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsRelease | gl_SemanticsMakeAvailable
layout(local_size_x = 1) in;
layout(binding = 0) buffer State { int state; };
layout(binding = 1) nonprivate buffer Value { int value; };
layout(binding = 2) buffer Result { int result[]; };

void main() {
  if (atomicCompSwap(state, 0, 1) == 0) {
    value = 7;
    atomicStore(state, 2, RELEASE);
  }
  result[gl_WorkGroupID.x] = value;
}
