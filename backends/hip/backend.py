"""HIP as a back end: checked by clang, which makes machine code for AMD's GPUs without ROCm; run elsewhere."""

from __future__ import annotations

from backends.hip.code import OPTCHECK
from backends.hip.compiler import COMPILER
from backends.hip.memory import HipKernel, hip_parameters
from backends.hip.progress import Hip
from backends.shared.backend import Backend
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
    check=OPTCHECK,
    embed=as_string,
)
