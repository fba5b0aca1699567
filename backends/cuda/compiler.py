"""nvcc, and the disassemblers of what it makes: those of the ``cuda`` extra (PyPI), or of a CUDA toolkit on PATH.

Where ``CUDA_HOME`` names a toolkit, that comes first: what the extra brings may be too new for a GPU's driver. nvcc
needs g++ as its host compiler.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from backends.cuda import gpus
from backends.cuda.progress import Cuda
from backends.shared.log import as_string
from backends.shared.toolchain import (
    PROBE_TIMEOUT,
    TIMEOUT,
    Compilation,
    Compiler,
    Probed,
    problem,
    run,
    tried,
    version,
    which,
)

HOPPER = 90
ARCHITECTURES = (75, HOPPER)
"""Compute capabilities compiled for: the oldest that CUDA 13 takes (Turing), and Hopper; those that a file needs."""
_NEEDS = re.compile(r"^// Needs sm_(\d+)", re.MULTILINE)

TOOLS = ("nvcc", "cuobjdump", "nvdisasm")

INSTALL = "pip install 'synth-litmus[cuda]', and g++"


def cuda_tool(name: str) -> Path | None:
    """A tool of the CUDA toolkit, such as nvcc or cuobjdump: of ``CUDA_HOME``, from PyPI, or on PATH."""
    if home := os.environ.get("CUDA_HOME"):
        tool = Path(home, "bin", name)
        return tool if tool.is_file() else None
    spec = find_spec("nvidia")
    for folder in (spec and spec.submodule_search_locations) or ():
        for tool in sorted(Path(folder).glob(f"cu*/bin/{name}"), reverse=True):
            return tool
    return which(name)


@dataclass(frozen=True, slots=True)
class CudaCompiler:
    """nvcc for compute capabilities: every one of ``ARCHITECTURES`` to check a file, that of a GPU to run it."""

    architectures: tuple[int, ...] = ARCHITECTURES

    def missing(self) -> list[str]:
        """As ``Compiler.missing``; the disassemblers are needed for optcheck."""
        lacking = [f"{name} (pip install 'synth-litmus[cuda]')" for name in TOOLS if cuda_tool(name) is None]
        return lacking if which("g++") else [*lacking, "g++"]

    def compile(self, file: Path, binary: Path | None = None, timeout: float = TIMEOUT) -> Compilation:
        """As ``Compiler.compile``."""
        needs = _NEEDS.search(file.read_text(encoding="utf-8"))
        numbers = [number for number in self.architectures if needs is None or number >= int(needs[1])]
        if needs is not None and not numbers:
            return Compilation(file, False, f"it needs sm_{needs[1]}, and this is sm_{max(self.architectures)}")
        codes = [f"-gencode=arch=compute_{number},code=sm_{number}" for number in numbers]
        with TemporaryDirectory() as scratch:
            target = binary or Path(scratch, "program")
            nvcc = cuda_tool("nvcc") or "nvcc"
            return run(file, [nvcc, "-O2", "-Werror=all-warnings", *codes, "-o", target, file.resolve()], None, timeout)

    @property
    def version(self) -> str:
        """nvcc and its version, as the programs that it makes say it."""
        return f"nvcc {_nvcc_version()}"

    def probe(self) -> list[Probed]:
        """As ``Compiler.probe``: one line for nvcc, one for the disassemblers, and one for each GPU."""
        return [*self._tools(), *gpus.probed(compiler_for)]

    def _tools(self) -> list[Probed]:
        nvcc, *disassemblers = (cuda_tool(name) for name in TOOLS)
        compiler = Probed("nvcc", "", "compile (--check)", "not installed", INSTALL)
        if nvcc is not None:
            trouble = (
                tried(self, Cuda, ".cu", ending=as_string("{}"))
                if which("g++")
                else "it needs g++ as its host compiler"
            )
            compiler = Probed("nvcc", _nvcc_version(), compiler.purpose, trouble, INSTALL)
        purpose = "optcheck of memory tests (--check)"
        names = "cuobjdump, nvdisasm"
        if not all(disassemblers):
            return [compiler, Probed(names, "", purpose, "not installed", INSTALL)]
        number = version([str(disassemblers[1]), "--version"], r"V(\d\S*)")
        return [compiler, Probed(names, number, purpose, compiler.problem or self._disassembled(), INSTALL)]

    def _disassembled(self) -> str:
        with TemporaryDirectory(prefix="synth-probe-") as folder:
            file, binary = Path(folder, "probe.cu"), Path(folder, "probe")
            file.write_text("__global__ void probe() {}\nint main() { return 0; }\n", encoding="utf-8")
            if not self.compile(file, binary, timeout=PROBE_TIMEOUT).ok:
                return "nvcc makes nothing to read"
            try:
                machine_code(binary)
            except (RuntimeError, OSError) as error:
                return problem(str(error)) or "it ended with an error"
        return ""


def compiler_for(capability: int) -> CudaCompiler:
    """nvcc for one compute capability only, which takes less time."""
    return CudaCompiler((capability,))


@cache
def _nvcc_version() -> str:
    nvcc = cuda_tool("nvcc")
    return version([nvcc, "--version"], r"V(\d\S*)") if nvcc else ""


def machine_code(program: Path) -> dict[str, str]:
    """The SASS of a program that nvcc made, ``sm_75`` and so on, as ``nvdisasm -c`` prints it.

    Raises ``FileNotFoundError`` where a tool is missing, and ``RuntimeError`` where it finds no code.
    """
    with TemporaryDirectory() as scratch:
        cuobjdump, nvdisasm = (cuda_tool(name) or name for name in ("cuobjdump", "nvdisasm"))
        run(program, [cuobjdump, "-xelf", "all", program.resolve()], Path(scratch))
        codes = {}
        for cubin in sorted(Path(scratch).glob("*.cubin")):
            disassembly = run(program, [nvdisasm, "-c", cubin])
            if not disassembly.ok:
                raise RuntimeError(disassembly.output)
            codes[cubin.name.split(".")[-2]] = disassembly.output
        if not codes:
            raise RuntimeError(f"no machine code in {program}")
        return codes


COMPILER: Compiler = CudaCompiler()
