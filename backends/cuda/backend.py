"""CUDA as a back end: run by the GPUs of NVIDIA of this machine, or elsewhere.

Each test is built by nvcc for the GPU at hand, and is a program of its own.

A kernel that hangs ends with its process. What is left of it may keep the GPU for a moment, and a GPU that drives a
display ends it by itself, which the program reports as a hang (``backends.cuda.progress``). Processes that use a GPU at
the same time share it in slices of time, and a test would seem to hang that waits for its slice: so programs are built
at the same time, and run one after the other.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock

from backends.cuda.compiler import COMPILER, CudaCompiler, compiler_for, machine_code
from backends.cuda.gpus import Gpu, choose
from backends.cuda.memory import CudaKernel
from backends.cuda.optcheck import optcheck
from backends.cuda.progress import Cuda
from backends.shared.backend import Backend, ProgramCheck
from backends.shared.cache import compiled_once
from backends.shared.device import Device, Prepared
from backends.shared.layout import Layout, device_layout
from backends.shared.log import as_string
from backends.shared.mapping import Launch
from backends.shared.profiles import Profile
from corpus.litmus.test import LitmusTest


@dataclass(frozen=True, slots=True)
class CudaDevice(Device):
    """A GPU, with the number of instances of progress tests (``None``: default).

    ``wanted`` is part of its name; ``None`` takes the first that works. Raises ``InputError`` where there is none.
    """

    wanted: str | None = None
    instances: int | None = None
    gpu: Gpu = field(init=False)
    _turn: Lock = field(default_factory=Lock, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "gpu", choose(compiler_for, self.wanted))

    @property
    def name(self) -> str:
        """The GPU, as the programs that run on it call it."""
        return self.gpu.name

    @property
    def driver(self) -> str:
        """The version of CUDA that the driver has."""
        return self.gpu.driver

    @property
    def compiler(self) -> str:
        """The name and the version of the nvcc that builds for this GPU."""
        return self._nvcc.version

    @property
    def _nvcc(self) -> CudaCompiler:
        return compiler_for(self.gpu)

    def layout(self, test: LitmusTest, instances: int, profile: Profile) -> Layout:
        """How a memory test is launched on this device."""
        return device_layout(test, instances, profile, is_cpu=False)

    def prepare(self, file: Path, shape: Launch | Layout) -> Prepared:
        """Compile a program beside its text. Raises ``RunError`` where nvcc refuses it."""
        binary = file.with_name(f"{file.name}.program")
        compiled_once(self._nvcc, "nvcc", file, binary, self.compiler, str(self.gpu.capability))
        return Prepared([str(binary)], self.gpu.environment, turn=self._turn)


def _problems(test: LitmusTest, program: Path) -> list[str]:
    return [f"{chip}: {each}" for chip, sass in machine_code(program).items() for each in optcheck(test, sass)]


BACKEND = Backend(
    name="cuda",
    suffix=".cu",
    progress=Cuda,
    memory=CudaKernel,
    files="TEST.cu with host code",
    usage="nvcc -O2 -arch=sm_90 -o t TEST.cu; timeout 20 ./t",
    compiler=COMPILER,
    device=lambda options: CudaDevice(options.platform, options.instances),
    check=ProgramCheck("optcheck", _problems),
    embed=as_string,
)
