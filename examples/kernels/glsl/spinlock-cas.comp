// A lock that is looked at until it is free, taken by compare-and-swap with acquire, given back by a store with
// release.
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
    while (atomicLoad(mutex, gl_ScopeDevice, 0, 0) != 0) {}
  } while (atomicCompSwap(mutex, 0, 1, gl_ScopeDevice, gl_StorageSemanticsBuffer,
                          gl_SemanticsAcquire | gl_SemanticsMakeVisible, 0, 0) != 0);
  x += 1;
  atomicStore(mutex, 0, gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsRelease | gl_SemanticsMakeAvailable);
}
