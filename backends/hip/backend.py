"""HIP as a back end: checked by clang, which makes machine code for GPUs of AMD without ROCm; run by hipcc and a GPU of
this machine, or elsewhere.
"""

from __future__ import annotations

from backends.hip.code import OPTCHECK
from backends.hip.compiler import COMPILER
from backends.hip.gpus import AMD
from backends.hip.memory import HipKernel, hip_parameters
from backends.hip.progress import Hip
from backends.shared.backend import Backend
from backends.shared.gpus import GpuDevice
from backends.shared.log import as_string

BACKEND = Backend(
    name="hip",
    suffix=".hip",
    progress=Hip,
    memory=HipKernel,
    files="TEST.hip with host code",
    usage="hipcc -O2 -o t TEST.hip; timeout 20 ./t",
    compiler=COMPILER,
    launched=hip_parameters,
    device=lambda options: GpuDevice(AMD, options.platform, options.instances),
    check=OPTCHECK,
    embed=as_string,
)
