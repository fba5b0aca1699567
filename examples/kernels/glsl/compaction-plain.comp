// Stream compaction whose count is plain: two work-groups may draw one place.
// synth check: --grid 2 --arg 'items=[3,4]' --arg 'result=int[2]' --expect 'result[0] > 0 && result[1] > 0'
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model
layout(local_size_x = 1) in;
layout(binding = 0) readonly buffer Items { int items[]; };
layout(binding = 1) nonprivate buffer Count { int count; };
layout(binding = 2) nonprivate buffer Result { int result[]; };

void main() {
  const int item = items[gl_WorkGroupID.x];
  if (item > 0) {
    const int place = count;
    count = place + 1;
    result[place] = item;
  }
}
