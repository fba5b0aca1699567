"""Renders progress tests in CUDA. A work-group is a thread block, and atomics are inline PTX at gpu scope.

PTX rather than ``cuda::atomic_ref``, for then the instruction is the one that the memory model of PTX speaks of, and
``asm volatile`` leaves it where it stands. A kernel that hangs keeps ``cudaDeviceSynchronize`` from returning: run the
program under ``timeout``. Where the device also drives a display, its watchdog ends the kernel; that too counts as a
hang (exit code 124, as ``timeout`` has it).
"""

from __future__ import annotations

from backends.shared.runtime import GpuRuntime, RuntimeRenderer

CUDA_RUNTIME = GpuRuntime(
    "cuda",
    "cuda_runtime.h",
    "ErrorLaunchTimeout",
    r"""static const char* device() {
    static cudaDeviceProp properties;
    int number = 0;
    if (properties.name[0] != '\0') return properties.name; // after an error nothing can be asked
    if (cudaGetDevice(&number) != cudaSuccess || cudaGetDeviceProperties(&properties, number) != cudaSuccess)
        return "no CUDA device";
    return properties.name;
}

static const char* driver() {
    static char text[32];
    int version = 0;
    if (cudaDriverGetVersion(&version) != cudaSuccess || version == 0) return "";
    std::snprintf(text, sizeof text, "CUDA %d.%d", version / 1000, version % 1000 / 10);
    return text;
}

static const char* compiler() {
    static char text[64];
    std::snprintf(text, sizeof text, "nvcc %d.%d.%d", __CUDACC_VER_MAJOR__, __CUDACC_VER_MINOR__, __CUDACC_VER_BUILD__);
    return text;
}
""",
)

_ATOMICS = """\
__device__ inline std::uint32_t atomic_exchange(std::uint32_t* const cell, const std::uint32_t value) {
    std::uint32_t old;
    asm volatile("atom.acq_rel.gpu.global.exch.b32 %0, [%1], %2;"
                 : "=r"(old) : "l"(__cvta_generic_to_global(cell)), "r"(value) : "memory");
    return old;
}

__device__ inline std::uint32_t atomic_add(std::uint32_t* const cell, const std::uint32_t value) {
    std::uint32_t old;
    asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], %2;"
                 : "=r"(old) : "l"(__cvta_generic_to_global(cell)), "r"(value) : "memory");
    return old;
}

"""


class Cuda(RuntimeRenderer):
    """A progress test as ``NAME.cu``: compile with ``nvcc -O2 -arch=sm_75`` or newer; run as ``timeout 20 NAME
    [iterations]``.
    """

    exchange = "atomic_exchange(&(cell), value)"
    add = "atomic_add(&(cell), value)"
    file = CUDA_RUNTIME.progress_file(_ATOMICS)
