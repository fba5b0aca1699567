"""WebGPU adapters through wgpu: the one that ``backends.wgsl.adapters`` chooses, or one that is named.

A shader that hangs ends with its process, by SIGKILL; a driver that gives up on it loses the device, which the host
reports as a hang. Lavapipe runs workgroups on the threads of a pool, and those of a workgroup in lanes of one.

Gap: Mesa 22's lavapipe cuts loops after 65,535 rounds; the host sees the sum of the counters and says so, unless the
driver's optimiser has concluded that the loops cannot be cut.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from backends.shared.device import Prepared
from backends.shared.layout import Layout, Parameters, cpu_parameters, place
from backends.shared.mapping import Launch, launch
from backends.wgsl.adapters import Adapter, choose
from corpus.litmus.test import LitmusTest
from corpus.progress.axb import Program


@dataclass(frozen=True, slots=True)
class WgslDevice:
    """A WebGPU adapter, with the number of instances of progress tests (``None``: default).

    ``adapter`` is part of its name; ``None`` leaves the choice to a probe. Raises ``InputError`` where none works.
    """

    adapter: str | None = None
    instances: int | None = None
    chosen: Adapter = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "chosen", choose(self.adapter))

    @property
    def name(self) -> str:
        """The adapter and its driver."""
        return self.chosen.name

    @property
    def hardware(self) -> str:
        """The adapter likewise."""
        return self.chosen.name

    def launch(self, program: Program, mapping: str) -> Launch:
        """The launch of a program on this device."""
        return launch(program, mapping, self.instances)

    def layout(self, test: LitmusTest, instances: int, stress: bool) -> Layout:
        """On a CPU as ``cpu_parameters`` has it; elsewhere a workgroup for each CTA and block, and no waiting."""
        if not self.chosen.is_cpu:
            return place(test, Parameters(instances, stress=int(stress)))
        return place(test, cpu_parameters(test, instances, stress))

    def prepare(self, file: Path, shape: Launch | Layout) -> Prepared:
        """The host that runs a shader."""
        return Prepared(self.chosen.command(file))
