// The reader-writer lock with loads and stores, and nothing that puts what each side says before what it looks at: each
// may miss the other.
// synth check: --grid 2 --expect 'result[0] == result[1]'
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model
#define RELAXED gl_ScopeDevice, 0, 0
#define RELEASE gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsRelease | gl_SemanticsMakeAvailable
#define ACQUIRE gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsAcquire | gl_SemanticsMakeVisible
layout(local_size_x = 1) in;
layout(binding = 0) buffer Writer { int writer; };
layout(binding = 1) buffer Readers { int readers; };
layout(binding = 2) nonprivate buffer X { int x; };
layout(binding = 3) nonprivate buffer Y { int y; };
layout(binding = 4) buffer Result { int result[]; };

void main() {
  if (gl_WorkGroupID.x == 0) {
    atomicStore(writer, 1, RELAXED);
    while (atomicLoad(readers, ACQUIRE) != 0) {}
    x = 1;
    y = 1;
    atomicStore(writer, 0, RELEASE);
  } else {
    while (true) {
      atomicAdd(readers, 1);
      if (atomicLoad(writer, ACQUIRE) == 0) break;
      atomicAdd(readers, -1);
    }
    result[0] = x;
    result[1] = y;
    atomicAdd(readers, -1, RELEASE);
  }
}
