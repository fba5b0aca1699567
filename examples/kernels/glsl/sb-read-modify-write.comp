// Each of two work-groups raises its flag and looks at the other's (Dekker), by read-modify-writes: one of them sees
// the other's, for the later one of a flag reads what the earlier one wrote.
// synth check: --grid 2 --expect 'saw[0] == 1 || saw[1] == 1'
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model
#define BOTH gl_SemanticsAcquireRelease | gl_SemanticsMakeAvailable | gl_SemanticsMakeVisible
layout(local_size_x = 1) in;
layout(binding = 0) buffer Flag { int flag[]; };
layout(binding = 1) buffer Saw { int saw[]; };

void main() {
  const uint me = gl_WorkGroupID.x;
  atomicExchange(flag[me], 1, gl_ScopeDevice, gl_StorageSemanticsBuffer, BOTH);
  saw[me] = atomicAdd(flag[1 - me], 0, gl_ScopeDevice, gl_StorageSemanticsBuffer, BOTH);
}
