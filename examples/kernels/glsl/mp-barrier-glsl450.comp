// Message passing in shared memory by a barrier, in a shader that does not name Vulkan's memory model.
// synth check: --block 2 --warp 1 --expect 'result[0] == 2 && result[1] == 1'
#version 450
layout(local_size_x = 2) in;
shared int value[2];
layout(binding = 0) buffer Result { int result[]; };

void main() {
  const uint me = gl_LocalInvocationID.x;
  value[me] = int(me) + 1;
  barrier();
  result[me] = value[1 - me];
}
