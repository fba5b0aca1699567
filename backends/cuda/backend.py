"""CUDA as a back end: run by the GPUs of NVIDIA of this machine, or elsewhere.

Each test is built by nvcc for the GPU at hand, and is a program of its own.
"""

from __future__ import annotations

from pathlib import Path

from backends.cuda.compiler import COMPILER, NVIDIA, machine_code
from backends.cuda.memory import CudaKernel
from backends.cuda.optcheck import optcheck
from backends.cuda.progress import Cuda
from backends.shared.backend import Backend, ProgramCheck
from backends.shared.gpus import GpuDevice
from backends.shared.log import as_string
from corpus.litmus.test import LitmusTest


def _problems(test: LitmusTest, program: Path) -> list[str]:
    return [
        f"{chip}: {complaint}" for chip, sass in machine_code(program).items() for complaint in optcheck(test, sass)
    ]


BACKEND = Backend(
    name="cuda",
    suffix=".cu",
    progress=Cuda,
    memory=CudaKernel,
    files="TEST.cu with host code",
    usage="nvcc -O2 -arch=sm_90 -o t TEST.cu; timeout 20 ./t",
    compiler=COMPILER,
    device=lambda options: GpuDevice(NVIDIA, options.platform, options.instances),
    check=ProgramCheck("optcheck", _problems),
    embed=as_string,
)
