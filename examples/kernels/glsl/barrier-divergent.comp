// A barrier in each branch: Vulkan has all threads of a work-group come to the same one, be they of one subgroup or
// not.
// synth check: --block 2
// synth check: --block 2 --warp 1
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model
layout(local_size_x = 2) in;
shared int data;
layout(binding = 0) buffer Result { int result; };

void main() {
  if (gl_LocalInvocationID.x == 0) {
    data = 1;
    barrier();
  } else {
    barrier();
    result = data;
  }
}
