// A flag and a count in one word of 64 bits, written whole and read by halves through another declaration of the same
// buffer.
// synth check: --grid 2
#version 450
#extension GL_KHR_memory_scope_semantics : require
#extension GL_EXT_shader_atomic_int64 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#pragma use_vulkan_memory_model
layout(local_size_x = 1) in;
layout(binding = 0) buffer Word { uint64_t word; };
layout(binding = 0) volatile buffer Halves { uint halves[2]; };
layout(binding = 1) buffer Result { uint result; };

void main() {
  if (gl_WorkGroupID.x == 0) {
    atomicExchange(word, 1ul << 32 | 5ul);
  } else if (halves[1] == 1) {
    result = halves[0];
  }
}
