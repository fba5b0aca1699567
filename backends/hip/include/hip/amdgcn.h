// What a kernel of HIP says, for `synth check` where the LLVM that clang makes for AMD's GPUs is read. What is not here
// does not compile. Atomics and fences are clang's own, with the scopes and orders that HIP's header gives them:
// atomicAdd and its like are relaxed for the agent.
#pragma once
#include <cstddef>

#define __constant__ __attribute__((constant))
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(most, ...) __attribute__((amdgpu_flat_work_group_size(1, most)))

__device__ __attribute__((const)) unsigned synth_workgroup_size(int along);
__device__ __attribute__((const)) unsigned synth_workgroups(int along);
__device__ void synth_syncthreads();

#define SYNTH_INDEX(type, of_x, of_y, of_z) \
    struct type { \
        __declspec(property(get = get_x)) unsigned x; \
        __declspec(property(get = get_y)) unsigned y; \
        __declspec(property(get = get_z)) unsigned z; \
        __device__ __attribute__((const)) unsigned get_x() const { return of_x; } \
        __device__ __attribute__((const)) unsigned get_y() const { return of_y; } \
        __device__ __attribute__((const)) unsigned get_z() const { return of_z; } \
    };
SYNTH_INDEX(synth_thread_index, __builtin_amdgcn_workitem_id_x(), __builtin_amdgcn_workitem_id_y(),
            __builtin_amdgcn_workitem_id_z())
SYNTH_INDEX(synth_block_index, __builtin_amdgcn_workgroup_id_x(), __builtin_amdgcn_workgroup_id_y(),
            __builtin_amdgcn_workgroup_id_z())
SYNTH_INDEX(synth_block_size, synth_workgroup_size(0), synth_workgroup_size(1), synth_workgroup_size(2))
SYNTH_INDEX(synth_grid_size, synth_workgroups(0), synth_workgroups(1), synth_workgroups(2))
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
#define SYNTH_ORDERED(T) \
    __device__ inline T min(T one, T other) { return other < one ? other : one; } \
    __device__ inline T max(T one, T other) { return one < other ? other : one; }
SYNTH_ORDERED(int)
SYNTH_ORDERED(unsigned)
SYNTH_ORDERED(long long)
SYNTH_ORDERED(unsigned long long)

// Macros, so that what is found has the line of the kernel.
#define __syncthreads() synth_syncthreads()
#define __threadfence_block() __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup")
#define __threadfence() __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent")
#define __threadfence_system() __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "")

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
#define SYNTH_CAS(at, compared, value, scope) \
    ({ auto synth_old = (decltype(*(at) + 0))(compared); \
       __hip_atomic_compare_exchange_strong(at, &synth_old, value, __ATOMIC_RELAXED, __ATOMIC_RELAXED, scope); \
       synth_old; })
#define atomicCAS(at, compared, value) SYNTH_CAS(at, compared, value, __HIP_MEMORY_SCOPE_AGENT)
#define atomicCAS_system(at, compared, value) SYNTH_CAS(at, compared, value, __HIP_MEMORY_SCOPE_SYSTEM)
