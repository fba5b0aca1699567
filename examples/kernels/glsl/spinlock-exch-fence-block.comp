// The lock taken by exchange, with memory barriers of the work-group between work-groups: too narrow a scope.
// synth check: --grid 2 --block 1 --expect 'x == 2'
// synth check: --block 2 --warp 1 --expect 'x == 2'
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model
#define BOTH gl_SemanticsAcquireRelease | gl_SemanticsMakeAvailable | gl_SemanticsMakeVisible
layout(local_size_x_id = 0) in;
layout(binding = 0) buffer Mutex { int mutex; };
layout(binding = 1) nonprivate buffer X { int x; };

void main() {
  while (atomicExchange(mutex, 1) != 0) {}
  memoryBarrier(gl_ScopeWorkgroup, gl_StorageSemanticsBuffer, BOTH);
  x += 1;
  memoryBarrier(gl_ScopeWorkgroup, gl_StorageSemanticsBuffer, BOTH);
  atomicExchange(mutex, 0);
}
