// A counter, atomic as shaders have it without a word on scope or order.
// synth check: --grid 2 --expect 'count == 2'
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model
layout(local_size_x = 1) in;
layout(binding = 0) buffer Count { int count; };

void main() {
  atomicAdd(count, 1);
}
