"""Renders progress tests in HIP. A work-group is a block, and atomics are clang's ``__hip_atomic_*`` at agent scope.

LLVM makes of an atomic addition of 0 one of another operation (``or``), but leaves a read-modify-write that releases
what it is. A kernel that hangs keeps ``hipDeviceSynchronize`` from returning: run the program under ``timeout``.
"""

from __future__ import annotations

from backends.shared.runtime import GpuRuntime, RuntimeRenderer

HIP_RUNTIME = GpuRuntime(
    "hip",
    "hip/hip_runtime.h",
    "ErrorLaunchTimeOut",
    r"""static const char* device() {
    static hipDeviceProp_t properties;
    static char text[sizeof properties.name + sizeof properties.gcnArchName + 4];
    int number = 0;
    if (text[0] != '\0') return text; // after an error nothing can be asked
    if (hipGetDevice(&number) != hipSuccess || hipGetDeviceProperties(&properties, number) != hipSuccess)
        return "no HIP device";
    std::snprintf(text, sizeof text, "%s (%s)", properties.name, properties.gcnArchName);
    return text;
}

static const char* driver() {
    static char text[32];
    int version = 0;
    if (hipDriverGetVersion(&version) != hipSuccess || version == 0) return "";
    std::snprintf(text, sizeof text, "HIP %d.%d.%d", version / 10000000, version / 100000 % 100, version % 100000);
    return text;
}

static const char* compiler() {
    static char text[64];
    std::snprintf(text, sizeof text, "clang %d.%d.%d", __clang_major__, __clang_minor__, __clang_patchlevel__);
    return text;
}
""",
)


class Hip(RuntimeRenderer):
    """A progress test as ``NAME.hip``: compile with ``hipcc -O2``; run as ``timeout 20 NAME [iterations]``."""

    exchange = "__hip_atomic_exchange(&(cell), value, __ATOMIC_ACQ_REL, __HIP_MEMORY_SCOPE_AGENT)"
    add = "__hip_atomic_fetch_add(&(cell), value, __ATOMIC_ACQ_REL, __HIP_MEMORY_SCOPE_AGENT)"
    file = HIP_RUNTIME.progress_file()
