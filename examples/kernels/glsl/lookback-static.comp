// Decoupled look-back, work-groups in the order of their ids: each adds what its predecessors have published, flag 1
// for a sum of its own, flag 2 for the sum of all so far. The scan of 1 1 1.
// synth check: --grid 3 --expect 'result[0] == 1 && result[1] == 2 && result[2] == 3'
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model
#define RELEASE gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsRelease | gl_SemanticsMakeAvailable
#define ACQUIRE gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsAcquire | gl_SemanticsMakeVisible
layout(local_size_x = 1) in;
layout(binding = 0) buffer Flag { int flag[]; };
layout(binding = 1) nonprivate buffer Own { int own[]; };
layout(binding = 2) nonprivate buffer All { int all[]; };
layout(binding = 3) buffer Result { int result[]; };
int wait(int other) {
  int found;
  do { found = atomicLoad(flag[other], ACQUIRE); } while (found == 0);
  return found;
}

void main() {
  const int me = int(gl_WorkGroupID.x);
  int sum = 0;
  if (me > 0 && me < gl_NumWorkGroups.x - 1) {
    own[me] = 1;
    atomicStore(flag[me], 1, RELEASE);
  }
  for (int other = me - 1; other >= 0; other--) {
    if (wait(other) == 2) {
      sum += all[other];
      break;
    }
    sum += own[other];
  }
  result[me] = sum + 1;
  all[me] = sum + 1;
  atomicStore(flag[me], 2, RELEASE);
}
