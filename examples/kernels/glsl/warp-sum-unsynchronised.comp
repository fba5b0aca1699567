// A sum in a subgroup through shared memory, with nothing between writing and reading.
// synth check: --block 2 --expect 'result == 3'
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model
layout(local_size_x = 2) in;
shared int part[2];
layout(binding = 0) buffer Result { int result; };

void main() {
  part[gl_LocalInvocationID.x] = int(gl_LocalInvocationID.x) + 1;
  if (gl_LocalInvocationID.x == 0) result = part[0] + part[1];
}
