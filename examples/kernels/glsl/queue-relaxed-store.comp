// The queue of one place whose flag is set by a relaxed store: items may be seen late, or overwritten early.
// synth check: --grid 2 --expect 'result[0] == 1 && result[1] == 2'
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model
#define RELAXED gl_ScopeDevice, 0, 0
#define ACQUIRE gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsAcquire | gl_SemanticsMakeVisible
layout(local_size_x = 1) in;
layout(binding = 0) buffer Full { int full; };
layout(binding = 1) nonprivate buffer Slot { int slot; };
layout(binding = 2) buffer Result { int result[]; };
void wait(int value) {
  while (atomicLoad(full, ACQUIRE) != value) {}
}
void set(int value) { atomicStore(full, value, RELAXED); }

void main() {
  for (int item = 1; item <= 2; item++) {
    if (gl_WorkGroupID.x == 0) {
      wait(0);
      slot = item;
      set(1);
    } else {
      wait(1);
      result[item - 1] = slot;
      set(0);
    }
  }
}
