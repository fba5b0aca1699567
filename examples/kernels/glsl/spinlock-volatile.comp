// A lock of volatile accesses in place of atomics: between seeing it free and taking it another thread does the same.
// synth check: --grid 2 --expect 'x == 2'
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model
#define BOTH gl_SemanticsAcquireRelease | gl_SemanticsMakeAvailable | gl_SemanticsMakeVisible
layout(local_size_x = 1) in;
layout(binding = 0) volatile buffer Mutex { int mutex; };
layout(binding = 1) nonprivate buffer X { int x; };

void main() {
  while (mutex != 0) {}
  mutex = 1;
  memoryBarrier(gl_ScopeDevice, gl_StorageSemanticsBuffer, BOTH);
  x += 1;
  memoryBarrier(gl_ScopeDevice, gl_StorageSemanticsBuffer, BOTH);
  mutex = 0;
}
