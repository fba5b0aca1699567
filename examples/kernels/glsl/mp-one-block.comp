// Message passing from one subgroup to another of the same work-group: its scope is wide enough.
// synth check: --block 2 --warp 1 --expect 'result == 2'
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model
layout(local_size_x = 2) in;
layout(binding = 0) nonprivate buffer Data { int data; };
layout(binding = 1) buffer Flag { int flag; };
layout(binding = 2) buffer Result { int result; };

void main() {
  if (gl_LocalInvocationID.x == 0) {
    data = 1;
    atomicStore(flag, 1, gl_ScopeWorkgroup, gl_StorageSemanticsBuffer,
                gl_SemanticsRelease | gl_SemanticsMakeAvailable);
  } else {
    while (atomicLoad(flag, gl_ScopeWorkgroup, gl_StorageSemanticsBuffer,
                      gl_SemanticsAcquire | gl_SemanticsMakeVisible) == 0) {}
    result = 1 + data;
  }
}
