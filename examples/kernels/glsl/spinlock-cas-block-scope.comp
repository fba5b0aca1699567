// The lock taken by compare-and-swap, with atomics of the work-group between work-groups: they are not atomic to each
// other.
// synth check: --grid 2 --block 1 --expect 'x == 2'
// synth check: --block 2 --warp 1 --expect 'x == 2'
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model
layout(local_size_x_id = 0) in;
layout(binding = 0) buffer Mutex { int mutex; };
layout(binding = 1) nonprivate buffer X { int x; };

void main() {
  do {
    while (atomicLoad(mutex, gl_ScopeWorkgroup, 0, 0) != 0) {}
  } while (atomicCompSwap(mutex, 0, 1, gl_ScopeWorkgroup, gl_StorageSemanticsBuffer,
                          gl_SemanticsAcquire | gl_SemanticsMakeVisible, 0, 0) != 0);
  x += 1;
  atomicStore(mutex, 0, gl_ScopeWorkgroup, gl_StorageSemanticsBuffer, gl_SemanticsRelease | gl_SemanticsMakeAvailable);
}
