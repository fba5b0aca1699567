// Message passing as shaders do it that do not name Vulkan's memory model: a coherent buffer, and the memory barriers
// of GLSL.
// synth check: --grid 2 --expect 'result == 0 || result == 2'
#version 450
layout(local_size_x = 1) in;
layout(binding = 0) coherent buffer Data { int data; };
layout(binding = 1) buffer Flag { int flag; };
layout(binding = 2) buffer Result { int result; };

void main() {
  if (gl_WorkGroupID.x == 0) {
    data = 1;
    memoryBarrierBuffer();
    atomicExchange(flag, 1);
  } else if (atomicAdd(flag, 0) == 1) {
    memoryBarrierBuffer();
    result = 1 + data;
  }
}
