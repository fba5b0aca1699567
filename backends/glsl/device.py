"""Runs tests on Vulkan devices, through a host and the package vulkan (PyPI). Scopes and orders are run as they are
written.

The shaders of a script are compiled by glslang and launched without Amber. A device needs Vulkan 1.2 with
vulkanMemoryModel and vulkanMemoryModelDeviceScope. A shader that hangs ends with its process; a driver that gives up on
it loses the device, which the host reports as a hang.
"""

from __future__ import annotations

from pathlib import Path

from backends.glsl.spirv import build, glslang_version
from backends.shared.hosted import MESA, PROBE_SIZES, Host
from backends.shared.syntax import C

_PROBE = f"""\
#!amber
SHADER compute test GLSL TARGET_ENV spv1.5
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer Memory {{ uint memory[]; }};
{chr(10).join(C.definitions(PROBE_SIZES.items(), ()))}
void main() {{
    if (memory[3] != 0u) return;
    while (atomicAdd(memory[0], 1u, gl_ScopeDevice, 0, 0) != SIZE) atomicAdd(memory[2], 1u, gl_ScopeDevice, 0, 0);
}}
END
"""

HOST = Host(
    title="Vulkan device",
    package="vulkan",
    install=f"pip install 'synth-litmus[vulkan]'; {MESA}",
    script=Path(__file__).with_name("host.py"),
    suffix=".amber",
    trial=_PROBE,
    build=build,
    together=True,
    compiler=lambda: f"glslang {glslang_version()}",
)
