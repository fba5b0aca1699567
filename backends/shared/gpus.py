"""Finds the GPUs of a vendor and those of them that work, and runs programs that are built for the GPU at hand.

The vendor's driver lists them. A probe tries a GPU: a progress test whose loop ends, built by the vendor's compiler for
it and run on it. What was found is remembered as long as this process lives, and no longer.

A program runs on the first GPU that it sees, so another is chosen by the variable that says which can be seen. Where
the user has set that variable, only what it names is there, and it is one of its words that is passed on.

A kernel that hangs ends with its process. What is left of it may keep the GPU for a moment, and a GPU that drives a
display ends it by itself, which the program reports as a hang. Processes that use a GPU at the same time share it in
slices of time, and a test would seem to hang that waits for its slice: so programs are built at the same time, and run
one after the other.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from threading import Lock
from typing import Protocol

from backends.shared.cache import compiled_once
from backends.shared.device import Device, Prepared
from backends.shared.layout import Layout, Parameters, gpu_parameters, place
from backends.shared.mapping import Launch
from backends.shared.profiles import Profile
from backends.shared.renderer import Renderer
from backends.shared.toolchain import Compiler, Probed, device_of, first_named, tried_on
from corpus.litmus.test import LitmusTest


@dataclass(frozen=True, slots=True)
class Gpu:
    """A GPU as its driver describes it: ``chip`` is what compilers know it by, such as ``90`` or ``gfx90a``; ``number``
    counts the GPUs that can be seen. ``driver`` is the driver's version, where it says one.
    """

    name: str
    chip: str
    number: int
    driver: str = ""


class GpuCompiler(Compiler, Protocol):
    """The compiler that builds programs for one GPU."""

    @property
    def version(self) -> str:
        """The name and the version of the compiler."""


@dataclass(frozen=True, slots=True)
class GpuVendor:
    """The GPUs of a vendor. ``title`` is what one is called, ``install`` says what brings one, and ``visible`` is the
    variable that says which of them a process sees.

    ``listed`` returns those that this process sees, in the order of their driver, and why there is none if there is
    not. ``compiler`` returns the compiler for a GPU, whose program is called ``tool``. ``language`` writes the progress
    test that is the probe, to files with this ``suffix``. ``launched`` says how a memory test is launched.
    """

    title: str
    install: str
    visible: str
    listed: Callable[[], tuple[Sequence[Gpu], str]]
    tool: str
    compiler: Callable[[Gpu], GpuCompiler]
    language: type[Renderer]
    suffix: str
    launched: Callable[[LitmusTest, int, Profile], Parameters] = gpu_parameters

    def environment(self, gpu: Gpu) -> Mapping[str, str]:
        """Return the variables of a process that is to see this GPU only."""
        given = os.environ.get(self.visible)
        return {self.visible: str(gpu.number) if given is None else given.split(",")[gpu.number].strip()}

    def choose(self, name: str | None = None) -> Gpu:
        """Return the first GPU that works, of those whose name contains ``name``, if given. Raises ``InputError`` where
        there is none: which were tried, and why each does not work.
        """
        gpus, reason = self.listed()
        named = "" if name is None else f" named '{name}'"
        return device_of(first_named(gpus, name, partial(probe, self), reason), f"{self.title}{named}")

    def probed(self) -> list[Probed]:
        """Return the probes of all GPUs in their order, each tried out here, or one that says why there is none."""
        gpus, reason = self.listed()
        found = [
            Probed(gpu.name, gpu.driver or self.compiler(gpu).version, "run", probe(self, gpu), self.install)
            for gpu in gpus
        ]
        return found or [Probed(self.title, "", "run", reason or "the driver of the kernel has none", self.install)]


@cache
def probe(vendor: GpuVendor, gpu: Gpu) -> str:
    """Build and run a small program, and return why the GPU cannot be used, in one line, or "" where it works."""
    return tried_on(vendor.compiler(gpu), vendor.language, vendor.suffix, vendor.environment(gpu))


@dataclass(frozen=True, slots=True)
class GpuDevice(Device):
    """A GPU of a vendor, with the number of instances of progress tests (``None``: default).

    ``wanted`` is part of its name; ``None`` takes the first that works. Raises ``InputError`` where there is none.
    """

    vendor: GpuVendor
    wanted: str | None = None
    instances: int | None = None
    gpu: Gpu = field(init=False)
    _turn: Lock = field(default_factory=Lock, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "gpu", self.vendor.choose(self.wanted))

    @property
    def name(self) -> str:
        """The GPU, as the programs that run on it call it."""
        return self.gpu.name

    @property
    def driver(self) -> str:
        """The version of the driver."""
        return self.gpu.driver

    @property
    def compiler(self) -> str:
        """The name and the version of the compiler that builds for this GPU."""
        return self.vendor.compiler(self.gpu).version

    def layout(self, test: LitmusTest, instances: int, profile: Profile) -> Layout:
        """Return the layout of a memory test on this device."""
        return place(test, self.vendor.launched(test, instances, profile))

    def prepare(self, file: Path, shape: Launch | Layout) -> Prepared:
        """Compile a program beside its text. Raises ``RunError`` where the compiler refuses it."""
        binary = file.with_name(f"{file.name}.program")
        compiled_once(self.vendor.compiler(self.gpu), self.vendor.tool, file, binary, self.compiler, self.gpu.chip)
        return Prepared([str(binary)], self.vendor.environment(self.gpu), turn=self._turn)
