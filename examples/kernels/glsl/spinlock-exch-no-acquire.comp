// The lock taken by exchange, with a memory barrier before giving it back alone: who takes it next acquires nothing.
// synth check: --grid 2 --expect 'x == 2'
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model
#define BOTH gl_SemanticsAcquireRelease | gl_SemanticsMakeAvailable | gl_SemanticsMakeVisible
layout(local_size_x = 1) in;
layout(binding = 0) buffer Mutex { int mutex; };
layout(binding = 1) nonprivate buffer X { int x; };

void main() {
  while (atomicExchange(mutex, 1) != 0) {}
  x += 1;
  memoryBarrier(gl_ScopeDevice, gl_StorageSemanticsBuffer, BOTH);
  atomicExchange(mutex, 0);
}
