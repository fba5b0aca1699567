// The lock taken by exchange without memory barriers: the exchange is relaxed, and x may be stale.
// synth check: --grid 2 --expect 'x == 2'
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model
layout(local_size_x = 1) in;
layout(binding = 0) buffer Mutex { int mutex; };
layout(binding = 1) nonprivate buffer X { int x; };

void main() {
  while (atomicExchange(mutex, 1) != 0) {}
  x += 1;
  atomicExchange(mutex, 0);
}
