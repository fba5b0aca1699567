// Message passing by a store that releases and a load that is relaxed.
// synth check: --grid 2 --expect 'result == 0 || result == 2'
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model
#define RELAXED gl_ScopeDevice, 0, 0
#define RELEASE gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsRelease | gl_SemanticsMakeAvailable
layout(local_size_x = 1) in;
layout(binding = 0) nonprivate buffer Data { int data; };
layout(binding = 1) buffer Flag { int flag; };
layout(binding = 2) buffer Result { int result; };

void main() {
  if (gl_WorkGroupID.x == 0) {
    data = 1;
    atomicStore(flag, 1, RELEASE);
  } else if (atomicLoad(flag, RELAXED) == 1) {
    result = 1 + data;
  }
}
