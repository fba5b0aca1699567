// Each of two work-groups raises its flag, and behind a memory barrier looks at the other's: Vulkan has no sequential
// consistency, and both may miss the other's.
// synth check: --grid 2 --expect 'saw[0] == 1 || saw[1] == 1'
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model
#define RELAXED gl_ScopeDevice, 0, 0
#define BOTH gl_SemanticsAcquireRelease | gl_SemanticsMakeAvailable | gl_SemanticsMakeVisible
layout(local_size_x = 1) in;
layout(binding = 0) buffer Flag { int flag[]; };
layout(binding = 1) buffer Saw { int saw[]; };

void main() {
  const uint me = gl_WorkGroupID.x;
  atomicStore(flag[me], 1, RELAXED);
  memoryBarrier(gl_ScopeDevice, gl_StorageSemanticsBuffer, BOTH);
  saw[me] = atomicLoad(flag[1 - me], RELAXED);
}
