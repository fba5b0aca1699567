// A barrier in a branch that one thread does not take: it waits for a flag that the other sets behind the barrier.
// synth check: --block 2 --warp 1
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model
layout(local_size_x = 2) in;
layout(binding = 0) buffer Flag { int flag; };

void main() {
  if (gl_LocalInvocationID.x == 0) {
    barrier();
    atomicExchange(flag, 1);
  } else {
    while (atomicAdd(flag, 0) == 0) {}
  }
}
