// The part of HIP's header that programs of tests use, for clang where ROCm is not installed: enough to check a program
// and to read its machine code, and nothing to run it with. amdgcn.h has more, for kernels that synth check reads.
#pragma once
#include <cstddef>

#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))

struct dim3 {
    unsigned x, y, z;
    __host__ __device__ dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};

#if defined(SYNTH_CHECKED)
#include "amdgcn.h"
#else
struct synth_block_index {
    __declspec(property(get = get)) unsigned x;
    __device__ unsigned get() const { return __builtin_amdgcn_workgroup_id_x(); }
};
struct synth_thread_index {
    __declspec(property(get = get)) unsigned x;
    __device__ unsigned get() const { return __builtin_amdgcn_workitem_id_x(); }
};
struct synth_block_size {
    __declspec(property(get = get)) unsigned x;
    __device__ unsigned get() const { return __builtin_amdgcn_workgroup_size_x(); }
};
extern const __device__ __attribute__((weak)) synth_block_index blockIdx;
extern const __device__ __attribute__((weak)) synth_thread_index threadIdx;
extern const __device__ __attribute__((weak)) synth_block_size blockDim;

__device__ inline void __syncthreads() {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
#endif

enum hipError_t { hipSuccess = 0, hipErrorLaunchTimeOut = 702 };
enum hipMemcpyKind { hipMemcpyHostToDevice = 1, hipMemcpyDeviceToHost = 2 };
typedef struct ihipStream_t* hipStream_t;
struct hipDeviceProp_t {
    char name[256];
    char gcnArchName[256];
};
struct hipFuncAttributes {
    int numRegs;
};

extern "C" {
hipError_t hipGetDevice(int* device);
hipError_t hipGetDeviceProperties(hipDeviceProp_t* properties, int device);
hipError_t hipDriverGetVersion(int* version);
hipError_t hipGetLastError();
const char* hipGetErrorString(hipError_t error);
hipError_t hipDeviceSynchronize();
hipError_t hipFuncGetAttributes(hipFuncAttributes* attributes, const void* kernel);
hipError_t hipMemset(void* memory, int value, std::size_t bytes);
hipError_t hipMemcpy(void* to, const void* from, std::size_t bytes, hipMemcpyKind kind);
hipError_t hipLaunchKernel(const void* kernel, dim3 groups, dim3 size, void** arguments, std::size_t shared,
                           hipStream_t stream);
hipError_t __hipPushCallConfiguration(dim3 groups, dim3 size, std::size_t shared = 0, hipStream_t stream = nullptr);
hipError_t __hipPopCallConfiguration(dim3* groups, dim3* size, std::size_t* shared, hipStream_t* stream);
hipError_t hipMalloc(void** memory, std::size_t bytes);
}
template <class T> hipError_t hipMalloc(T** memory, std::size_t bytes) { return hipMalloc((void**)memory, bytes); }
