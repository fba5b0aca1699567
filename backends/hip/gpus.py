"""Lists the GPUs of AMD, and drives hipcc, which makes programs for them.

The kernel's driver lists GPUs (``/sys/class/kfd``, Linux), each with the version of its instructions: 90010 is gfx90a,
of major version 9, minor version 0 and stepping 10.

Gap: no GPU of AMD has run any of this yet.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from backends.hip.memory import hip_parameters
from backends.hip.progress import Hip
from backends.shared.gpus import Gpu, GpuVendor
from backends.shared.handing import MADE, SOURCE, Word, check_shell, handed
from backends.shared.toolchain import TIMEOUT, Compilation, Probed, version, which

INSTALL = "a GPU of AMD with its driver, and hipcc of ROCm"

VISIBLE = "HIP_VISIBLE_DEVICES"

NODES = Path("/sys/class/kfd/kfd/topology/nodes")
"""Where the driver has a folder for each processor that it knows."""

_VERSION = r"HIP version: (\S+)"


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
        return AMD.probed()

    @property
    def version(self) -> str:
        """The word hipcc and its version."""
        return f"hipcc {version(['hipcc', '--version'], _VERSION)}".rstrip()


def gpus(nodes: Path = NODES) -> tuple[Sequence[Gpu], str]:
    """Return every GPU that the driver has, or of them those that ``HIP_VISIBLE_DEVICES`` names; no reason is given
    where there is none.
    """
    folders = sorted(nodes.glob("*/properties"), key=lambda file: int(file.parent.name))
    chips = list(filter(None, map(_chip, folders)))
    given = os.environ.get(VISIBLE)
    if given is not None:
        numbers = [word.strip() for word in given.split(",")]
        chips = [chips[int(number)] for number in numbers if number.isdecimal() and int(number) < len(chips)]
    return [Gpu(f"AMD {chip}", chip, number) for number, chip in enumerate(chips)], ""


def _chip(properties: Path) -> str:
    """The name that clang has for a processor, empty where it is no GPU."""
    found = re.search(r"^gfx_target_version (\d+)$", properties.read_text(encoding="utf-8"), re.MULTILINE)
    number = int(found[1]) if found else 0
    return f"gfx{number // 10000}{number // 100 % 100:x}{number % 100:x}" if number else ""


AMD = GpuVendor("GPU of AMD", INSTALL, VISIBLE, gpus, "hipcc", lambda gpu: Hipcc(gpu.chip), Hip, ".hip", hip_parameters)
"""The GPUs of AMD, whose chips have the names that clang has for them."""
