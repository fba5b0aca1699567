"""Renders progress tests in HIP. A work-group is a block, and atomics are clang's ``__hip_atomic_*`` at agent scope.

LLVM makes of an atomic addition of 0 one of another operation (``or``), but leaves a read-modify-write that releases
what it is. A kernel that hangs keeps ``hipDeviceSynchronize`` from returning: run the program under ``timeout``.
"""

from __future__ import annotations

from backends.shared.renderer import Renderer
from backends.shared.runtime import progress_host
from backends.shared.syntax import LanguageSyntax

ABOUT = r"""static const char* device() {
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
"""
"""The functions that name the GPU, the driver and the compiler."""

HOST = (ABOUT, "hip", "ErrorLaunchTimeOut")
"""What ``backends.shared.runtime`` is told of HIP's runtime."""


class Hip(Renderer):
    """A progress test as ``NAME.hip``: compile with ``hipcc -O2``; run as ``timeout 20 NAME [iterations]``."""

    syntax = LanguageSyntax("std::uint32_t")
    exchange = "__hip_atomic_exchange(&(cell), value, __ATOMIC_ACQ_REL, __HIP_MEMORY_SCOPE_AGENT)"
    add = "__hip_atomic_fetch_add(&(cell), value, __ATOMIC_ACQ_REL, __HIP_MEMORY_SCOPE_AGENT)"
    header = 'extern "C" __global__ void test(std::uint32_t* const memory)'
    group = "blockIdx.x"
    item = "threadIdx.x"
    file = """\
// $name, mapping $mapping. Usage: timeout 20 NAME [iterations]; a test that hangs does not come back.
$pseudo_code
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <hip/hip_runtime.h>

$constants

$kernel

""" + progress_host(*HOST)
