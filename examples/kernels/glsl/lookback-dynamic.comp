// Look-back, work-groups in the order in which they draw a number: the second waits for the sum of the first.
// synth check: --grid 2 --expect 'sum[0] == 1 && sum[1] == 2'
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model
#define RELEASE gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsRelease | gl_SemanticsMakeAvailable
#define ACQUIRE gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsAcquire | gl_SemanticsMakeVisible
layout(local_size_x = 1) in;
layout(binding = 0) buffer Next { int next; };
layout(binding = 1) buffer Flag { int flag; };
layout(binding = 2) nonprivate buffer Sum { int sum[]; };

void main() {
  if (atomicAdd(next, 1) == 0) {
    sum[0] = 1;
    atomicStore(flag, 2, RELEASE);
  } else {
    while (atomicLoad(flag, ACQUIRE) != 2) {}
    sum[1] = sum[0] + 1;
  }
}
