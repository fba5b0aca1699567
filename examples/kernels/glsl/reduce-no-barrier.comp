// The sum by the last work-group, without a barrier between the count and the look at who is last.
// synth check: --grid 2 --block 2 --warp 1 --arg 'items=[1,2,3,4]' --expect 'result == 10'
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model
#define BOTH gl_SemanticsAcquireRelease | gl_SemanticsMakeAvailable | gl_SemanticsMakeVisible
layout(local_size_x = 2) in;
layout(binding = 0) readonly buffer Items { int items[]; };
layout(binding = 1) nonprivate buffer Part { int part[]; };
layout(binding = 2) buffer Done { uint done; };
layout(binding = 3) buffer Result { int result; };
shared int sum[2];
shared bool last;

void main() {
  const uint me = gl_LocalInvocationID.x;
  sum[me] = items[2 * gl_WorkGroupID.x + me];
  barrier();
  if (me == 0) {
    part[gl_WorkGroupID.x] = sum[0] + sum[1];
    memoryBarrier(gl_ScopeDevice, gl_StorageSemanticsBuffer, BOTH);
    last = atomicAdd(done, 1) == gl_NumWorkGroups.x - 1;
    memoryBarrier(gl_ScopeDevice, gl_StorageSemanticsBuffer, BOTH);
  }
  if (last && me == 1) result = part[0] + part[1];
}
