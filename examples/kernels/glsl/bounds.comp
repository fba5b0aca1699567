// Each thread takes its right neighbour's value in shared memory; the last one has none.
// synth check: --block 2 --warp 1
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model
layout(local_size_x = 2) in;
shared int value[2];
layout(binding = 0) buffer Result { int result[]; };

void main() {
  const uint me = gl_LocalInvocationID.x;
  value[me] = int(me);
  barrier();
  result[me] = value[me + 1];
}
