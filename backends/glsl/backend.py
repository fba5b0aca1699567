"""GLSL as a back end: Amber scripts, run by the Vulkan devices of this machine, or by Amber elsewhere."""

from __future__ import annotations

from backends.glsl.compiler import COMPILER
from backends.glsl.device import HOST
from backends.glsl.memory import GlslKernel, decode
from backends.glsl.progress import Glsl
from backends.shared.backend import Backend
from backends.shared.hosted import HostedDevice

BACKEND = Backend(
    name="glsl",
    suffix=".amber",
    progress=Glsl,
    memory=GlslKernel,
    files="TEST.amber",
    usage="amber -d TEST.amber (without -d if there are validation layers)",
    compiler=COMPILER,
    decode=decode,
    device=lambda options: HostedDevice(HOST, options.platform, options.instances),
)
