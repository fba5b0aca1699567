"""HIP as a back end: checked by clang, which makes machine code for GPUs of AMD without ROCm; run by hipcc and a GPU of
this machine, or elsewhere.

As in CUDA, a program is built for the GPU at hand, and programs run one after the other.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock

from backends.hip.code import OPTCHECK
from backends.hip.compiler import COMPILER
from backends.hip.gpus import AmdGpu, Hipcc, choose
from backends.hip.memory import HipKernel, hip_parameters
from backends.hip.progress import Hip
from backends.shared.backend import Backend
from backends.shared.cache import compiled_once
from backends.shared.device import Device, Prepared
from backends.shared.layout import Layout, place
from backends.shared.log import as_string
from backends.shared.mapping import Launch
from backends.shared.profiles import Profile
from corpus.litmus.test import LitmusTest


@dataclass(frozen=True, slots=True)
class HipDevice(Device):
    """A GPU, with the number of instances of progress tests (``None``: default).

    ``wanted`` is part of its name; ``None`` takes the first that works. Raises ``InputError`` where there is none.
    """

    wanted: str | None = None
    instances: int | None = None
    gpu: AmdGpu = field(init=False)
    _turn: Lock = field(default_factory=Lock, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "gpu", choose(self.wanted))

    @property
    def name(self) -> str:
        """The GPU."""
        return self.gpu.name

    @property
    def compiler(self) -> str:
        """The name and the version of the hipcc that builds for this GPU."""
        return Hipcc(self.gpu.chip).version

    def layout(self, test: LitmusTest, instances: int, profile: Profile) -> Layout:
        """How a memory test is launched on this device."""
        return place(test, hip_parameters(test, instances, profile))

    def prepare(self, file: Path, shape: Launch | Layout) -> Prepared:
        """Compile a program beside its text. Raises ``RunError`` where hipcc refuses it."""
        binary = file.with_name(f"{file.name}.program")
        compiled_once(Hipcc(self.gpu.chip), "hipcc", file, binary, self.compiler, self.gpu.chip)
        return Prepared([str(binary)], self.gpu.environment, turn=self._turn)


BACKEND = Backend(
    name="hip",
    suffix=".hip",
    progress=Hip,
    memory=HipKernel,
    files="TEST.hip with host code",
    usage="hipcc -O2 -o t TEST.hip; timeout 20 ./t",
    compiler=COMPILER,
    launched=hip_parameters,
    device=lambda options: HipDevice(options.platform, options.instances),
    check=OPTCHECK,
    embed=as_string,
)
