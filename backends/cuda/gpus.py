"""Finds the GPUs of NVIDIA and those of them that work. The driver lists them, and a probe tries them.

The probe is a progress test whose loop ends, built by nvcc for the GPU's own compute capability, of a toolkit that its
driver can do with (``backends.cuda.toolkits``), and run on it. What was found is remembered as long as this process
lives, and no longer.

A program runs on the first GPU that it sees, so another is chosen by ``CUDA_VISIBLE_DEVICES``. Where the user has set
that variable, only what it names is there, and it is one of its words that is passed on.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

from backends.cuda.progress import Cuda
from backends.shared.toolchain import Compiler, Probed, device_of, first_usable, rows_of, tried_on

INSTALL = "a GPU of NVIDIA with its driver"

VISIBLE = "CUDA_VISIBLE_DEVICES"


@dataclass(frozen=True, slots=True)
class Gpu:
    """A GPU as its driver describes it: ``capability`` is 90 for 9.0; ``number`` counts the GPUs that can be seen."""

    name: str
    capability: int
    driver: str
    number: int

    @property
    def cuda(self) -> int | None:
        """The major version of CUDA that the driver has, where the driver says it."""
        number = re.search(r"\d+", self.driver)
        return int(number[0]) if number else None

    @property
    def environment(self) -> Mapping[str, str]:
        """The variables of a process that is to see this GPU only."""
        given = os.environ.get(VISIBLE)
        return {VISIBLE: str(self.number) if given is None else given.split(",")[self.number].strip()}


Compilers = Callable[[Gpu], Compiler]
"""A function that returns the compiler for a GPU."""


def gpus() -> list[Gpu]:
    """Return every GPU that this process sees, in the order of its driver."""
    return [Gpu(name, capability, driver, at) for at, (name, capability, driver) in enumerate(_listed()[0])]


def first_that_works(compilers: Compilers, name: str | None = None) -> tuple[Gpu | None, list[str]]:
    """Return the first GPU that passes its probe, and what is wrong with those before it, a line each.

    Of those whose name contains ``name``, if given; ``None`` where none works.
    """
    named = (gpu for gpu in gpus() if name is None or name in gpu.name)
    found, failures = first_usable(named, partial(probe, compilers))
    return found, failures if found or failures else list(filter(None, [_listed()[1]]))


def choose(compilers: Compilers, name: str | None = None) -> Gpu:
    """Return the first GPU that works. Raises ``InputError`` where there is none: which were tried, and what was said
    of them.
    """
    named = "" if name is None else f" named '{name}'"
    return device_of(first_that_works(compilers, name), f"CUDA GPU{named}")


def probed(compilers: Compilers) -> list[Probed]:
    """Return the probes of all GPUs in their order, or why there is none, as ``Compiler.probe`` does."""
    found = [Probed(gpu.name, gpu.driver, "run", probe(compilers, gpu), INSTALL) for gpu in gpus()]
    return found or [Probed("CUDA GPU", "", "run", _listed()[1], INSTALL)]


@cache
def probe(compilers: Compilers, gpu: Gpu) -> str:
    """Build and run a small program, and return why the GPU cannot be used, in one line, or "" where it works."""
    return tried_on(compilers(gpu), Cuda, ".cu", gpu.environment)


@cache
def _listed() -> tuple[tuple[tuple[Any, ...], ...], str]:
    """The GPUs that the driver lists, and why there is none if there is not."""
    found, reason = rows_of(Path(__file__).with_name("listing.py"), "listing the GPUs")
    return found, reason.removeprefix("error: ") or ("" if found else "the driver finds no GPU")
