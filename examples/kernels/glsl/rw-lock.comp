// A reader-writer lock that prefers the writer: a reader who finds one steps back and comes again. Vulkan has no
// sequential consistency. So both say that they come, and look at the other, by read-modify-writes, each of which reads
// what the one before it wrote.
// synth check: --grid 2 --expect 'result[0] == result[1]'
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model
#define RELEASE gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsRelease | gl_SemanticsMakeAvailable
#define BOTH gl_SemanticsAcquireRelease | gl_SemanticsMakeAvailable | gl_SemanticsMakeVisible
layout(local_size_x = 1) in;
layout(binding = 0) buffer Writer { int writer; };
layout(binding = 1) buffer Readers { int readers; };
layout(binding = 2) nonprivate buffer X { int x; };
layout(binding = 3) nonprivate buffer Y { int y; };
layout(binding = 4) buffer Result { int result[]; };

void main() {
  if (gl_WorkGroupID.x == 0) {
    atomicExchange(writer, 1, gl_ScopeDevice, gl_StorageSemanticsBuffer, BOTH);
    while (atomicAdd(readers, 0, gl_ScopeDevice, gl_StorageSemanticsBuffer, BOTH) != 0) {}
    x = 1;
    y = 1;
    atomicStore(writer, 0, RELEASE);
  } else {
    while (true) {
      atomicAdd(readers, 1, gl_ScopeDevice, gl_StorageSemanticsBuffer, BOTH);
      if (atomicAdd(writer, 0, gl_ScopeDevice, gl_StorageSemanticsBuffer, BOTH) == 0) break;
      atomicAdd(readers, -1);
    }
    result[0] = x;
    result[1] = y;
    atomicAdd(readers, -1, RELEASE);
  }
}
