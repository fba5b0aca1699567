"""WGSL as a back end: run by the WebGPU adapters of this machine."""

from __future__ import annotations

from backends.shared.backend import Backend
from backends.shared.hosted import HostedDevice
from backends.shared.log import as_comment
from backends.wgsl.compiler import COMPILER
from backends.wgsl.device import HOST
from backends.wgsl.memory import WgslKernel
from backends.wgsl.progress import Wgsl

BACKEND = Backend(
    name="wgsl",
    suffix=".wgsl",
    progress=Wgsl,
    memory=WgslKernel,
    files="TEST.wgsl, run_wgsl.py",
    usage="timeout -s KILL 20 python run_wgsl.py TEST.wgsl",
    compiler=COMPILER,
    device=lambda options: HostedDevice(HOST, options.platform, options.instances),
    embed=as_comment,
)
