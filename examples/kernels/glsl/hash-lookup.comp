// A hash table whose values stand beside its keys: who finds the key reads the value, which is there if it was written
// before the key was published.
// synth check: --grid 2 --expect 'result == 0 || result == 7'
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model
#define RELEASE gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsRelease | gl_SemanticsMakeAvailable
#define ACQUIRE gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsAcquire | gl_SemanticsMakeVisible
layout(local_size_x = 1) in;
layout(binding = 0) buffer Key { int key; };
layout(binding = 1) nonprivate buffer Value { int value; };
layout(binding = 2) buffer Result { int result; };

void main() {
  if (gl_WorkGroupID.x == 0) {
    value = 7;
    atomicStore(key, 5, RELEASE);
  } else if (atomicLoad(key, ACQUIRE) == 5) {
    result = value;
  }
}
