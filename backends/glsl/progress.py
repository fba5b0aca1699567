"""Renders progress tests in GLSL. A test is a compute shader inside an Amber script, under the Vulkan memory model.

Scoped atomics need GL_KHR_memory_scope_semantics; without ``use_vulkan_memory_model`` device scope is not valid SPIR-V.
Atomics make their own location available and visible, so the acquire-release semantics need no more flags. The script
asks for ``vulkanMemoryModelDeviceScope`` alone: Amber hangs when both features of that structure are named. Amber
reports a hang as a fence time-out and then ends with SIGSEGV (seen). One script is one iteration: run it as often as
you like.

Gap: some drivers bound loops (Mesa 22's lavapipe after 65,535 iterations); the last EXPECT finds that they were cut,
unless the driver's optimiser has concluded that they cannot be.
"""

from __future__ import annotations

from backends.glsl.amber import FENCE, shader_text
from backends.shared.mapping import GROUPS, Launch
from backends.shared.renderer import Renderer

_ORDER = "gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsAcquireRelease"


class Glsl(Renderer):
    """A progress test as an Amber script, ``NAME.amber``, that is run as ``amber NAME.amber``."""

    exchange = f"atomicExchange(cell, value, {_ORDER})"
    add = f"atomicAdd(cell, value, {_ORDER})"
    header = "void main()"
    most_groups = GROUPS
    group = "gl_WorkGroupID.x"
    item = "gl_LocalInvocationID.x"
    file = (
        """\
#!amber
# $name, mapping $mapping. A test that hangs runs into the fence time-out.
$pseudo_code_hash
SET ENGINE_DATA fence_timeout_ms """
        + str(FENCE)
        + """
DEVICE_FEATURE VulkanMemoryModelFeatures.vulkanMemoryModelDeviceScope

SHADER compute test GLSL TARGET_ENV spv1.5
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model
layout(local_size_x = $group_size) in;
layout(set = 0, binding = 0) buffer Memory { uint memory[]; };

$constants

$kernel
END

BUFFER memory DATA_TYPE uint32 SIZE $words FILL 0

PIPELINE compute pipeline
  ATTACH test
  BIND BUFFER memory AS storage DESCRIPTOR_SET 0 BINDING 0
END

RUN pipeline $groups 1 1

# Every thread has ended: the counters of all of them, summed up.
EXPECT memory IDX $finished_byte EQ $expected
"""
    )

    @classmethod
    def kernel(cls, launch: Launch) -> str:
        """Return the kernel as in every language, except that no comment ends the shader for Amber
        (``backends.glsl.amber``).
        """
        return shader_text(super().kernel(launch))
