"""Metal as a back end: run by the GPUs of a Mac."""

from __future__ import annotations

from backends.metal.compiler import COMPILER
from backends.metal.device import HOST
from backends.metal.memory import MetalKernel
from backends.metal.progress import Metal
from backends.shared.backend import Backend
from backends.shared.hosted import HostedDevice
from backends.shared.log import as_comment

BACKEND = Backend(
    name="metal",
    suffix=".metal",
    progress=Metal,
    memory=MetalKernel,
    files="TEST.metal, run_metal.py",
    usage="python run_metal.py TEST.metal",
    compiler=COMPILER,
    device=lambda options: HostedDevice(HOST, options.platform, options.instances),
    embed=as_comment,
)
