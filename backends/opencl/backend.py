"""OpenCL as a back end: run by the OpenCL devices of this machine."""

from __future__ import annotations

from backends.opencl.compiler import COMPILER
from backends.opencl.device import OpenClDevice
from backends.opencl.memory import OpenClKernel
from backends.opencl.progress import OpenCl
from backends.shared.backend import Backend
from backends.shared.log import as_comment

BACKEND = Backend(
    name="opencl",
    suffix=".cl",
    progress=OpenCl,
    memory=OpenClKernel,
    files="TEST.cl, run_opencl.py",
    usage="timeout 20 python run_opencl.py TEST.cl",
    compiler=COMPILER,
    device=lambda options: OpenClDevice(options.platform, options.instances, options.workers),
    embed=as_comment,
)
