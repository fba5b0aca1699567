// Memory decides which of two barriers a thread comes to.
// synth check: --block 2 --arg c=[1]
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model
layout(local_size_x = 2) in;
layout(binding = 0) buffer Count { int c; };
layout(binding = 1) buffer Result { int a[]; };

void main() {
  uint me = gl_LocalInvocationID.x;
  if (int(me) < c) {
    barrier();
  } else {
    a[me] = 1;
    barrier();
  }
}
