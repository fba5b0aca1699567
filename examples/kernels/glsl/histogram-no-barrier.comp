// The histogram without a barrier between clearing and counting: a count may be cleared, or come to what nobody
// cleared.
// synth check: --block 2 --warp 1 --arg 'items=[1,0]' --arg 'bins=int[2]' --expect 'bins[0] == 1 && bins[1] == 1'
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model
layout(local_size_x = 2) in;
layout(binding = 0) readonly buffer Items { uint items[]; };
layout(binding = 1) buffer Bins { int bins[]; };
shared int own[2];

void main() {
  const uint me = gl_LocalInvocationID.x;
  own[me] = 0;
  atomicAdd(own[items[me]], 1, gl_ScopeWorkgroup, 0, 0);
  barrier();
  atomicAdd(bins[me], own[me]);
}
