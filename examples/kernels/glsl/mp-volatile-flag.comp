// Message passing by a volatile flag between memory barriers, as programs older than scoped atomics do: volatile
// accesses are not atomic.
// synth check: --grid 2 --expect 'result == 2'
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model
#define BOTH gl_SemanticsAcquireRelease | gl_SemanticsMakeAvailable | gl_SemanticsMakeVisible
layout(local_size_x = 1) in;
layout(binding = 0) nonprivate buffer Data { int data; };
layout(binding = 1) volatile buffer Flag { int flag; };
layout(binding = 2) buffer Result { int result; };

void main() {
  if (gl_WorkGroupID.x == 0) {
    data = 1;
    memoryBarrier(gl_ScopeDevice, gl_StorageSemanticsBuffer, BOTH);
    flag = 1;
  } else {
    while (flag == 0) {}
    memoryBarrier(gl_ScopeDevice, gl_StorageSemanticsBuffer, BOTH);
    result = 1 + data;
  }
}
