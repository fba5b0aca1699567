"""Chooses the CUDA toolkit that compiles for a GPU. Its programs run with the GPU's driver, and it knows the GPU's
compute capability.

Toolkits are looked for in this order: that of ``CUDA_HOME``, and then no other; PyPI's (the ``cuda`` extra); that on
PATH; those of ``/usr/local``, the newest first. The first that will do is taken. So an H100 with a driver of CUDA 12.4
is compiled for by the nvcc 12 on PATH, though PyPI's nvcc 13 comes before it.

Source: CUDA Toolkit Release Notes, "CUDA Toolkit and Minimum Required Driver Version for CUDA Minor Version
Compatibility": a driver of CUDA N runs what toolkits of N and earlier make. PyPI has no nvcc of CUDA 12: its packages
``nvidia-cuda-nvcc-cu12`` hold ptxas and libnvvm alone.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from backends.shared.toolchain import version, which

LOCAL = Path("/usr/local")
"""The folder where NVIDIA's own packages put toolkits, as ``cuda-12.9`` and ``cuda``."""


@dataclass(frozen=True, slots=True)
class Release:
    """A major version of the CUDA toolkit: the oldest compute capability that it compiles for, and the oldest driver
    that it needs, by its number on Linux.
    """

    major: int
    oldest: int
    driver: str


RELEASES = (Release(13, 75, "580.65.06"), Release(12, 50, "525.60.13"), Release(11, 35, "450.80.02"))


@dataclass(frozen=True, slots=True)
class CudaTarget:
    """The target of a compilation: a compute capability, 90 for 9.0, and the major version of CUDA that the driver has;
    None where any will do, as nothing is run.
    """

    capability: int | None = None
    driver: int | None = None


ANY = CudaTarget()
"""The target where nothing is run: any toolkit compiles for it."""


@dataclass(frozen=True, slots=True)
class Toolkit:
    """A CUDA toolkit, known by the folder of its tools."""

    folder: Path

    def tool(self, name: str) -> Path | None:
        """Return the path of one of the toolkit's tools, such as nvcc or cuobjdump."""
        tool = self.folder / name
        return tool if tool.is_file() else None

    @property
    def version(self) -> str:
        """The version of the toolkit's nvcc, ``12.9.86``; "" where it has none, or nvcc does not say it."""
        return _version(self.tool("nvcc"))

    @property
    def release(self) -> Release | None:
        """The row of the toolkit's major version; the newest row for a version later than all."""
        number = re.match(r"\d+", self.version)
        return next((release for release in RELEASES if number and release.major <= int(number[0])), None)

    def problem(self, target: CudaTarget) -> str:
        """Return why the toolkit cannot compile for a GPU, in a line, or "" where it can. One whose version is not
        known can.
        """
        release = self.release
        if release is None:
            return ""
        if target.driver is not None and release.major > target.driver:
            return f"the driver has CUDA {target.driver}, nvcc {self.version} needs {release.driver} or later"
        if target.capability is not None and target.capability < release.oldest:
            return f"nvcc {self.version} compiles for sm_{release.oldest} and later, this is sm_{target.capability}"
        return ""


def toolkits() -> list[Toolkit]:
    """Return every toolkit there is, in order. Tools of one are not mixed with those of another."""
    if home := os.environ.get("CUDA_HOME"):
        return [Toolkit(Path(home, "bin"))]
    spec = find_spec("nvidia")
    packages = [Path(folder) for folder in (spec and spec.submodule_search_locations) or ()]
    on_path = which("nvcc")
    folders = [
        *(folder for package in packages for folder in sorted(package.glob("cu[0-9]*/bin"), reverse=True)),
        *([Path(on_path).parent] if on_path else []),
        *sorted(LOCAL.glob("cuda*/bin"), key=_by_number, reverse=True),
    ]
    found: dict[Path, Toolkit] = {}
    for folder in folders:
        if (tool := folder / "nvcc").is_file():
            found.setdefault(tool.resolve(), Toolkit(folder))
    return list(found.values())


def chosen(target: CudaTarget) -> tuple[Toolkit | None, str]:
    """Return the first toolkit that compiles for a target; or none, what is wrong with the first one, and what would
    do.
    """
    found = toolkits()
    problems = [toolkit.problem(target) for toolkit in found]
    for toolkit, problem in zip(found, problems, strict=True):
        if not problem:
            return toolkit, ""
    if not problems:
        return None, ""
    fits = (
        release
        for release in RELEASES
        if (target.driver is None or release.major <= target.driver)
        and (target.capability is None or release.oldest <= target.capability)
    )
    best = next(fits, None)
    return None, problems[0] + (f"; install nvcc of CUDA {best.major} on PATH, or name it by CUDA_HOME" if best else "")


@cache
def _version(nvcc: Path | None) -> str:
    return version([nvcc, "--version"], r"V(\d\S*)") if nvcc else ""


def _by_number(folder: Path) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", folder.parent.name)]
