// Stream compaction into an array that has no room for all that is kept: the place is known only when the shader runs.
// synth check: --grid 2 --arg 'items=[5,7]' --arg 'result=int[1]'
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model
layout(local_size_x = 1) in;
layout(binding = 0) readonly buffer Items { int items[]; };
layout(binding = 1) buffer Count { int count; };
layout(binding = 2) buffer Result { int result[]; };

void main() {
  const int item = items[gl_WorkGroupID.x];
  if (item > 0) result[atomicAdd(count, 1)] = item;
}
