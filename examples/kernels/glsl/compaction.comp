// Stream compaction: each work-group whose item is kept draws a place behind those that others drew.
// synth check: --grid 2 --arg 'items=[3,4]' --arg 'result=int[2]' --expect '(result[0] == 3 && result[1] == 4) || (result[0] == 4 && result[1] == 3)'
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
