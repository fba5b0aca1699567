"""Finds the GPUs of AMD and those of them that work, and drives hipcc, which makes programs for them.

The kernel's driver lists GPUs (``/sys/class/kfd``, Linux), each with the version of its instructions: 90010 is gfx90a,
of major version 9, minor version 0 and stepping 10. A probe tries a GPU: a progress test whose loop ends, built by
hipcc for it and run on it. What was found is remembered as long as this process lives.

Gap: no GPU of AMD has run any of this yet.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from backends.hip.progress import Hip
from backends.shared.handing import MADE, SOURCE, Word, check_shell, handed
from backends.shared.toolchain import (
    TIMEOUT,
    Compilation,
    Probed,
    device_of,
    first_usable,
    tried_on,
    version,
    which,
)

INSTALL = "a GPU of AMD with its driver, and hipcc of ROCm"

VISIBLE = "HIP_VISIBLE_DEVICES"

NODES = Path("/sys/class/kfd/kfd/topology/nodes")
"""Where the driver has a folder for each processor that it knows."""

_VERSION = r"HIP version: (\S+)"


@dataclass(frozen=True, slots=True)
class AmdGpu:
    """A GPU: the name that clang has for it, and its number among those that there are."""

    chip: str
    number: int

    @property
    def name(self) -> str:
        """What it is called in results."""
        return f"AMD {self.chip}"

    @property
    def environment(self) -> Mapping[str, str]:
        """The variables of a process that is to see this GPU only."""
        given = os.environ.get(VISIBLE)
        return {VISIBLE: str(self.number) if given is None else given.split(",")[self.number].strip()}


@dataclass(frozen=True, slots=True)
class Hipcc:
    """hipcc for a GPU."""

    chip: str

    def missing(self) -> list[str]:
        """Return what is missing to compile for it."""
        return [] if which("hipcc") else ["hipcc (of ROCm)"]

    def compile(self, file: Path, binary: Path | None = None, timeout: float = TIMEOUT) -> Compilation:
        """Compile a program for the GPU. Raises ``FileNotFoundError`` where there is no hipcc."""
        check_shell(which("hipcc") or "")
        command: list[Word] = ["hipcc", "-O2", "-x", "hip", f"--offload-arch={self.chip}", "-o", MADE, SOURCE]
        return handed(file, command, binary, timeout=timeout)

    def probe(self) -> list[Probed]:
        """Report on hipcc and the GPUs."""
        return probed()

    @property
    def version(self) -> str:
        """The word hipcc and its version."""
        return f"hipcc {version(['hipcc', '--version'], _VERSION)}".rstrip()


def gpus(nodes: Path = NODES) -> list[AmdGpu]:
    """Return every GPU that the driver has, or of them those that ``HIP_VISIBLE_DEVICES`` names."""
    folders = sorted(nodes.glob("*/properties"), key=lambda each: int(each.parent.name))
    chips = list(filter(None, map(_chip, folders)))
    given = os.environ.get(VISIBLE)
    if given is not None:
        wanted = [each.strip() for each in given.split(",")]
        chips = [chips[int(each)] for each in wanted if each.isdecimal() and int(each) < len(chips)]
    return [AmdGpu(chip, number) for number, chip in enumerate(chips)]


def _chip(properties: Path) -> str:
    """The name that clang has for a processor, empty where it is no GPU."""
    found = re.search(r"^gfx_target_version (\d+)$", properties.read_text(encoding="utf-8"), re.MULTILINE)
    number = int(found[1]) if found else 0
    return f"gfx{number // 10000}{number // 100 % 100:x}{number % 100:x}" if number else ""


def choose(name: str | None = None) -> AmdGpu:
    """Return the first GPU that works, of those whose name contains ``name``. Raises ``InputError`` where there is
    none.
    """
    named = "" if name is None else f" named '{name}'"
    found = first_usable((each for each in gpus() if name is None or name in each.name), probe)
    return device_of(found, f"GPU of AMD{named}")


def probed() -> list[Probed]:
    """Return the probes of all GPUs, or that there is none, as ``Compiler.probe`` does."""
    found = [Probed(each.name, Hipcc(each.chip).version, "run", probe(each), INSTALL) for each in gpus()]
    return found or [Probed("GPU of AMD", "", "run", "the driver of the kernel has none", INSTALL)]


@cache
def probe(gpu: AmdGpu) -> str:
    """Build and run a small program, and return why the GPU cannot be used, in one line, or "" where it works."""
    return tried_on(Hipcc(gpu.chip), Hip, ".hip", gpu.environment)
