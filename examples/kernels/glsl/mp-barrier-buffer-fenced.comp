// Message passing in a buffer by a barrier between memory barriers, which order the buffer.
// synth check: --block 2 --expect 'result[0] == 2 && result[1] == 1'
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model
layout(local_size_x = 2) in;
layout(binding = 0) coherent buffer Value { int value[]; };
layout(binding = 1) buffer Result { int result[]; };

void main() {
  const uint me = gl_LocalInvocationID.x;
  value[me] = int(me) + 1;
  memoryBarrierBuffer();
  barrier();
  memoryBarrierBuffer();
  result[me] = value[1 - me];
}
