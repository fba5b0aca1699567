// What a kernel of HIP says, in the words that LLVM's translator makes instructions of SPIR-V: for `synth check`. What is
// not here does not compile. Scopes and orders are HIP's: atomicAdd and its like are relaxed for the agent, and an order
// speaks for global and shared memory.
#pragma once
#include <cstddef>

#define __constant__ __attribute__((constant))
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define SYNTH_ANNOTATED(...) __attribute__((annotate("launch_bounds " #__VA_ARGS__)))
#define __launch_bounds__(...) SYNTH_ANNOTATED(__VA_ARGS__)

__device__ std::size_t __spirv_BuiltInLocalInvocationId(int along);
__device__ std::size_t __spirv_BuiltInWorkgroupId(int along);
__device__ std::size_t __spirv_BuiltInWorkgroupSize(int along);
__device__ std::size_t __spirv_BuiltInNumWorkgroups(int along);
__device__ void __spirv_ControlBarrier(int execution, int memory, int semantics);
__device__ void __spirv_MemoryBarrier(int memory, int semantics);

#define SYNTH_INDEX(type, builtin) \
    struct type { \
        __declspec(property(get = get_x)) unsigned x; \
        __declspec(property(get = get_y)) unsigned y; \
        __declspec(property(get = get_z)) unsigned z; \
        __device__ unsigned get_x() const { return builtin(0); } \
        __device__ unsigned get_y() const { return builtin(1); } \
        __device__ unsigned get_z() const { return builtin(2); } \
    };
SYNTH_INDEX(synth_thread_index, __spirv_BuiltInLocalInvocationId)
SYNTH_INDEX(synth_block_index, __spirv_BuiltInWorkgroupId)
SYNTH_INDEX(synth_block_size, __spirv_BuiltInWorkgroupSize)
SYNTH_INDEX(synth_grid_size, __spirv_BuiltInNumWorkgroups)
#define threadIdx (synth_thread_index{})
#define blockIdx (synth_block_index{})
#define blockDim (synth_block_size{})
#define gridDim (synth_grid_size{})

#define SYNTH_VECTORS(T, name) \
    struct alignas(2 * sizeof(T)) name##2 { T x, y; }; \
    struct alignas(4 * sizeof(T)) name##4 { T x, y, z, w; }; \
    __device__ inline name##2 make_##name##2(T x, T y) { return {x, y}; } \
    __device__ inline name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
SYNTH_VECTORS(int, int)
SYNTH_VECTORS(unsigned, uint)
SYNTH_VECTORS(float, float)

__device__ inline int abs(int value) { return value < 0 ? -value : value; }
__device__ inline unsigned __brev(unsigned value) { return __builtin_bitreverse32(value); }
__device__ inline int __ffs(int value) { return value ? 1 + __builtin_ctz(value) : 0; }
__device__ inline int __popc(unsigned value) { return __builtin_popcount(value); }
__device__ inline int __popcll(unsigned long long value) { return __builtin_popcountll(value); }
__device__ inline int __clz(int value) { return value ? __builtin_clz(value) : 32; }
__device__ inline int __clzll(long long value) { return value ? __builtin_clzll(value) : 64; }

// Scopes of SPIR-V are CrossDevice 0, Device 1, Workgroup 2, Subgroup 3, Invocation 4; semantics Acquire 2, Release 4,
// AcquireRelease 8, SequentiallyConsistent 16, for WorkgroupMemory 0x100 and CrossWorkgroupMemory 0x200.
#define SYNTH_SCOPE(scope) (__HIP_MEMORY_SCOPE_SYSTEM - (scope))
#define SYNTH_ORDER(order) \
    ((order) == __ATOMIC_RELAXED ? 0 : (order) == __ATOMIC_CONSUME || (order) == __ATOMIC_ACQUIRE ? 0x302 \
     : (order) == __ATOMIC_RELEASE ? 0x304 : (order) == __ATOMIC_ACQ_REL ? 0x308 : 0x310)
#define SYNTH_NAMED(name) \
    (!__builtin_strcmp(name, "workgroup") ? 2 : !__builtin_strcmp(name, "agent") ? 1 \
     : !__builtin_strcmp(name, "") ? 0 : !__builtin_strcmp(name, "wavefront") ? 3 : 4)

#define __syncthreads() __spirv_ControlBarrier(2, 2, 0x308)
#define __threadfence_block() __spirv_MemoryBarrier(2, 0x310)
#define __threadfence() __spirv_MemoryBarrier(1, 0x310)
#define __threadfence_system() __spirv_MemoryBarrier(0, 0x310)
#define __atomic_thread_fence(order) __spirv_MemoryBarrier(0, SYNTH_ORDER(order))
#define __builtin_amdgcn_fence(order, scope) __spirv_MemoryBarrier(SYNTH_NAMED(scope), SYNTH_ORDER(order))
#define __builtin_amdgcn_s_barrier() __spirv_ControlBarrier(2, 2, 0)

#define SYNTH_ATOMICS(T) \
    __device__ T __spirv_AtomicLoad(const T* at, int scope, int order); \
    __device__ void __spirv_AtomicStore(T* at, int scope, int order, T value); \
    __device__ T __spirv_AtomicExchange(T* at, int scope, int order, T value); \
    __device__ T __spirv_AtomicCompareExchange(T* at, int scope, int order, int failed, T value, T expected); \
    __device__ T __spirv_AtomicIAdd(T* at, int scope, int order, T value); \
    __device__ T __spirv_AtomicISub(T* at, int scope, int order, T value); \
    __device__ T __spirv_AtomicSMin(T* at, int scope, int order, T value); \
    __device__ T __spirv_AtomicSMax(T* at, int scope, int order, T value); \
    __device__ T __spirv_AtomicUMin(T* at, int scope, int order, T value); \
    __device__ T __spirv_AtomicUMax(T* at, int scope, int order, T value); \
    __device__ T __spirv_AtomicAnd(T* at, int scope, int order, T value); \
    __device__ T __spirv_AtomicOr(T* at, int scope, int order, T value); \
    __device__ T __spirv_AtomicXor(T* at, int scope, int order, T value); \
    __device__ inline T min(T one, T other) { return other < one ? other : one; } \
    __device__ inline T max(T one, T other) { return one < other ? other : one; }
SYNTH_ATOMICS(int)
SYNTH_ATOMICS(unsigned)
SYNTH_ATOMICS(long long)
SYNTH_ATOMICS(unsigned long long)

// Macros, so that what is found has the line of the kernel.
#define SYNTH_AT(op, at, value, order, scope) __spirv_Atomic##op(at, SYNTH_SCOPE(scope), SYNTH_ORDER(order), value)
#define SYNTH_SIGNED(at) ((decltype(*(at) + 0))-1 < 0)
#define __hip_atomic_load(at, order, scope) __spirv_AtomicLoad(at, SYNTH_SCOPE(scope), SYNTH_ORDER(order))
#define __hip_atomic_store(at, value, order, scope) SYNTH_AT(Store, at, value, order, scope)
#define __hip_atomic_exchange(at, value, order, scope) SYNTH_AT(Exchange, at, value, order, scope)
#define __hip_atomic_fetch_add(at, value, order, scope) SYNTH_AT(IAdd, at, value, order, scope)
#define __hip_atomic_fetch_sub(at, value, order, scope) SYNTH_AT(ISub, at, value, order, scope)
#define __hip_atomic_fetch_and(at, value, order, scope) SYNTH_AT(And, at, value, order, scope)
#define __hip_atomic_fetch_or(at, value, order, scope) SYNTH_AT(Or, at, value, order, scope)
#define __hip_atomic_fetch_xor(at, value, order, scope) SYNTH_AT(Xor, at, value, order, scope)
#define __hip_atomic_fetch_min(at, value, order, scope) \
    (SYNTH_SIGNED(at) ? SYNTH_AT(SMin, at, value, order, scope) : SYNTH_AT(UMin, at, value, order, scope))
#define __hip_atomic_fetch_max(at, value, order, scope) \
    (SYNTH_SIGNED(at) ? SYNTH_AT(SMax, at, value, order, scope) : SYNTH_AT(UMax, at, value, order, scope))
#define __hip_atomic_compare_exchange_strong(at, expected, value, done, failed, scope) \
    synth_exchanged(expected, __spirv_AtomicCompareExchange( \
        at, SYNTH_SCOPE(scope), SYNTH_ORDER(done), SYNTH_ORDER(failed), value, *(expected)))
template <class T> __device__ bool synth_exchanged(T* expected, T found) {
    bool same = found == *expected;
    *expected = found;
    return same;
}

#define SYNTH_ALL(op, ...) op(__VA_ARGS__)
#define SYNTH_AGENT __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT
#define SYNTH_SYSTEM __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM
#define atomicAdd(at, value) SYNTH_ALL(__hip_atomic_fetch_add, at, value, SYNTH_AGENT)
#define atomicAdd_system(at, value) SYNTH_ALL(__hip_atomic_fetch_add, at, value, SYNTH_SYSTEM)
#define atomicSub(at, value) SYNTH_ALL(__hip_atomic_fetch_sub, at, value, SYNTH_AGENT)
#define atomicSub_system(at, value) SYNTH_ALL(__hip_atomic_fetch_sub, at, value, SYNTH_SYSTEM)
#define atomicMin(at, value) SYNTH_ALL(__hip_atomic_fetch_min, at, value, SYNTH_AGENT)
#define atomicMin_system(at, value) SYNTH_ALL(__hip_atomic_fetch_min, at, value, SYNTH_SYSTEM)
#define atomicMax(at, value) SYNTH_ALL(__hip_atomic_fetch_max, at, value, SYNTH_AGENT)
#define atomicMax_system(at, value) SYNTH_ALL(__hip_atomic_fetch_max, at, value, SYNTH_SYSTEM)
#define atomicAnd(at, value) SYNTH_ALL(__hip_atomic_fetch_and, at, value, SYNTH_AGENT)
#define atomicAnd_system(at, value) SYNTH_ALL(__hip_atomic_fetch_and, at, value, SYNTH_SYSTEM)
#define atomicOr(at, value) SYNTH_ALL(__hip_atomic_fetch_or, at, value, SYNTH_AGENT)
#define atomicOr_system(at, value) SYNTH_ALL(__hip_atomic_fetch_or, at, value, SYNTH_SYSTEM)
#define atomicXor(at, value) SYNTH_ALL(__hip_atomic_fetch_xor, at, value, SYNTH_AGENT)
#define atomicXor_system(at, value) SYNTH_ALL(__hip_atomic_fetch_xor, at, value, SYNTH_SYSTEM)
#define atomicExch(at, value) SYNTH_ALL(__hip_atomic_exchange, at, value, SYNTH_AGENT)
#define atomicExch_system(at, value) SYNTH_ALL(__hip_atomic_exchange, at, value, SYNTH_SYSTEM)
#define atomicCAS(at, expected, value) __spirv_AtomicCompareExchange(at, 1, 0, 0, value, expected)
#define atomicCAS_system(at, expected, value) __spirv_AtomicCompareExchange(at, 0, 0, 0, value, expected)
