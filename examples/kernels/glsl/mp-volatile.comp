// Message passing by a volatile flag and volatile data: volatile accesses are not atomic.
// synth check: --block 2 --warp 1 --expect 'result == 0 || result == 2'
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model
layout(local_size_x = 2) in;
layout(binding = 0) volatile buffer Data { int data; };
layout(binding = 1) volatile buffer Flag { int flag; };
layout(binding = 2) buffer Result { int result; };

void main() {
  if (gl_LocalInvocationID.x == 0) {
    data = 1;
    flag = 1;
  } else if (flag == 1) {
    result = 1 + data;
  }
}
