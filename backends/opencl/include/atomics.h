/* The atomics of OpenCL C 1.x are relaxed, and atomic for the device (OpenCL C 3.0, 6.15.12.8). LLVM's SPIR-V
   translator gives its own names for them the scope of a work-group. Here they are the functions of SPIR-V, whose scope
   and semantics are arguments: 1 is the device, 0 is relaxed. A label of the assembly gives each the name that the
   translator knows. */

#define SYNTH_WITH(NAME, LABEL, TYPE, SPACE) \
  TYPE __attribute__((overloadable)) synth_##NAME(volatile SPACE TYPE *, int, int, TYPE) __asm(LABEL);
#define SYNTH_ALONE(NAME, LABEL, TYPE, SPACE) \
  TYPE __attribute__((overloadable)) synth_##NAME(volatile SPACE TYPE *, int, int) __asm(LABEL);
#define SYNTH_COMPARE(NAME, LABEL, TYPE, SPACE) \
  TYPE __attribute__((overloadable)) synth_##NAME(volatile SPACE TYPE *, int, int, int, TYPE, TYPE) __asm(LABEL);

#define SYNTH_OF_TYPE(TYPE, LETTER, SIGN, SPACE, AREA) \
  SYNTH_WITH(add, "_Z18__spirv_AtomicIAdd" AREA LETTER "ii" LETTER, TYPE, SPACE) \
  SYNTH_WITH(sub, "_Z18__spirv_AtomicISub" AREA LETTER "ii" LETTER, TYPE, SPACE) \
  SYNTH_WITH(xchg, "_Z22__spirv_AtomicExchange" AREA LETTER "ii" LETTER, TYPE, SPACE) \
  SYNTH_WITH(min, "_Z18__spirv_Atomic" SIGN "Min" AREA LETTER "ii" LETTER, TYPE, SPACE) \
  SYNTH_WITH(max, "_Z18__spirv_Atomic" SIGN "Max" AREA LETTER "ii" LETTER, TYPE, SPACE) \
  SYNTH_WITH(and, "_Z17__spirv_AtomicAnd" AREA LETTER "ii" LETTER, TYPE, SPACE) \
  SYNTH_WITH(or, "_Z16__spirv_AtomicOr" AREA LETTER "ii" LETTER, TYPE, SPACE) \
  SYNTH_WITH(xor, "_Z17__spirv_AtomicXor" AREA LETTER "ii" LETTER, TYPE, SPACE) \
  SYNTH_ALONE(inc, "_Z24__spirv_AtomicIIncrement" AREA LETTER "ii", TYPE, SPACE) \
  SYNTH_ALONE(dec, "_Z24__spirv_AtomicIDecrement" AREA LETTER "ii", TYPE, SPACE) \
  SYNTH_COMPARE(cmpxchg, "_Z29__spirv_AtomicCompareExchange" AREA LETTER "iii" LETTER LETTER, TYPE, SPACE)

#define SYNTH_OF_SPACE(SPACE, AREA) \
  SYNTH_OF_TYPE(int, "i", "S", SPACE, AREA) \
  SYNTH_OF_TYPE(uint, "j", "U", SPACE, AREA) \
  SYNTH_OF_TYPE(long, "l", "S", SPACE, AREA) \
  SYNTH_OF_TYPE(ulong, "m", "U", SPACE, AREA) \
  SYNTH_WITH(xchg, "_Z22__spirv_AtomicExchange" AREA "fiif", float, SPACE)

SYNTH_OF_SPACE(__global, "PU3AS1V")
SYNTH_OF_SPACE(__local, "PU3AS3V")
#if __OPENCL_C_VERSION__ == 200 || defined(__opencl_c_generic_address_space)
SYNTH_OF_SPACE(__generic, "PU3AS4V")
#endif

#define atomic_add(p, v) synth_add(p, 1, 0, v)
#define atomic_sub(p, v) synth_sub(p, 1, 0, v)
#define atomic_xchg(p, v) synth_xchg(p, 1, 0, v)
#define atomic_min(p, v) synth_min(p, 1, 0, v)
#define atomic_max(p, v) synth_max(p, 1, 0, v)
#define atomic_and(p, v) synth_and(p, 1, 0, v)
#define atomic_or(p, v) synth_or(p, 1, 0, v)
#define atomic_xor(p, v) synth_xor(p, 1, 0, v)
#define atomic_inc(p) synth_inc(p, 1, 0)
#define atomic_dec(p) synth_dec(p, 1, 0)
#define atomic_cmpxchg(p, c, v) synth_cmpxchg(p, 1, 0, 0, v, c)
#define atom_add atomic_add
#define atom_sub atomic_sub
#define atom_xchg atomic_xchg
#define atom_min atomic_min
#define atom_max atomic_max
#define atom_and atomic_and
#define atom_or atomic_or
#define atom_xor atomic_xor
#define atom_inc atomic_inc
#define atom_dec atomic_dec
#define atom_cmpxchg atomic_cmpxchg
