"""Drives nvcc and the disassemblers of its machine code. Their toolkit is the one that ``backends.cuda.toolkits``
chooses.

nvcc needs g++ as its host compiler.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from backends.cuda import gpus, toolkits
from backends.cuda.progress import Cuda
from backends.cuda.toolkits import ANY, CudaTarget, Toolkit
from backends.shared.gpus import Gpu, GpuVendor
from backends.shared.handing import MADE, OPTIONS, SOURCE, check_shell, handed
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
from corpus.errors import InputError
from corpus.extras import pip_install
from corpus.private import private_folder

ARCHITECTURES = (75, 90)
"""Compute capabilities compiled for: the oldest that CUDA 13 takes (Turing), and Hopper; those that a file needs."""
_NEEDS = re.compile(r"^// Needs sm_(\d+)", re.MULTILINE)
_CHECKED = re.compile(r"^// Checked for (.*)\.$", re.MULTILINE)

TOOLS = ("nvcc", "cuobjdump", "nvdisasm")

INSTALL = f"{pip_install('cuda')}, and g++"

_UNQUOTED = ("-Xcompiler", "-fno-diagnostics-show-caret")
"""The host compiler quotes no lines, for which it would open whatever file a ``#line`` names."""

PTX_ARCHITECTURE = "sm_90a"
"""What kernels are compiled to PTX for unless something else is said."""

AS_WRITTEN = ("-Xcicc", "-O0", "-Xcicc", "-g")
"""The options by which PTX has every access that the source has: cicc, which makes it, optimises nothing, and its front
end drops no load into a variable that nobody uses, for debuggers may ask for it.
"""


def cuda_tool(name: str) -> Path | None:
    """Return the path of a tool, such as nvcc or cuobjdump, of the first CUDA toolkit there is."""
    toolkit, _ = toolkits.chosen(ANY)
    return toolkit.tool(name) if toolkit else None


@dataclass(frozen=True, slots=True)
class CudaCompiler:
    """The compiler nvcc for compute capabilities: every one of ``ARCHITECTURES`` to check a file, that of a GPU to run
    it. A file may say for which it is to be checked, as ``sm_90a``.

    ``target`` chooses the toolkit.
    """

    architectures: tuple[int, ...] = ARCHITECTURES
    target: CudaTarget = ANY

    def missing(self) -> list[str]:
        """Return what is missing to compile CUDA, each with the way to get it; empty if nothing is. Where nothing is
        run, the disassemblers are needed too, for optcheck.
        """
        toolkit, problem = toolkits.chosen(self.target)
        if problem:
            return [f"nvcc for it: {problem}"]
        tools = TOOLS if self.target == ANY else TOOLS[:1]
        absent = [name for name in tools if toolkit is None or toolkit.tool(name) is None]
        lacking = [f"{name} ({pip_install('cuda')})" for name in absent]
        return lacking if which("g++") else [*lacking, "g++"]

    def compile(self, file: Path, binary: Path | None = None, timeout: float = TIMEOUT) -> Compilation:
        """Compile a CUDA file by nvcc, within ``timeout`` seconds; ``binary`` keeps the program."""
        text = file.read_text(encoding="utf-8")
        needs, checked = _NEEDS.search(text), _CHECKED.search(text) if self.target == ANY else None
        numbers = [str(number) for number in self.architectures if needs is None or number >= int(needs[1])]
        if needs is not None and not numbers:
            return Compilation(file, False, f"it needs sm_{needs[1]}, and this is sm_{max(self.architectures)}")
        chips = numbers if checked is None else re.findall(r"sm_(\w+)", checked[1])
        codes = [f"-gencode=arch=compute_{chip},code=sm_{chip}" for chip in chips]
        toolkit, _ = toolkits.chosen(self.target)
        nvcc = (toolkit and toolkit.tool("nvcc")) or "nvcc"
        check_shell(nvcc)
        command = [nvcc, "-O2", "-Werror=all-warnings", *codes, "-o", MADE, SOURCE]
        return handed(file, command, binary, timeout=timeout)

    @property
    def version(self) -> str:
        """The words nvcc and its version, as the programs that it makes say them."""
        toolkit, _ = toolkits.chosen(self.target)
        return f"nvcc {toolkit.version if toolkit else ''}".rstrip()

    def probe(self) -> list[Probed]:
        """Return a probe of nvcc, the disassemblers, each further toolkit and each GPU, in this order, each tried out
        here.
        """
        return [*self._tools(), *NVIDIA.probed()]

    def _tools(self) -> list[Probed]:
        nvcc, *disassemblers = (cuda_tool(name) for name in TOOLS)
        compiler = Probed("nvcc", "", "compile (--check)", "not installed", INSTALL)
        if nvcc is not None:
            trouble = (
                tried(self, Cuda, ".cu", ending=as_string("{}"))
                if which("g++")
                else "it needs g++ as its host compiler"
            )
            compiler = Probed("nvcc", self.version.removeprefix("nvcc "), compiler.purpose, trouble, INSTALL)
        purpose = "optcheck of memory tests (--check)"
        names = "cuobjdump, nvdisasm"
        further = [_further(toolkit) for toolkit in toolkits.toolkits()[1:]]
        if not all(disassemblers):
            return [compiler, Probed(names, "", purpose, "not installed", INSTALL), *further]
        number = version([str(disassemblers[1]), "--version"], r"V(\d\S*)")
        return [compiler, Probed(names, number, purpose, compiler.problem or self._disassembled(), INSTALL), *further]

    def _disassembled(self) -> str:
        with private_folder("probe") as folder:
            file, binary = Path(folder, "probe.cu"), Path(folder, "probe")
            file.write_text("__global__ void probe() {}\nint main() { return 0; }\n", encoding="utf-8")
            if not self.compile(file, binary, timeout=PROBE_TIMEOUT).ok:
                return "nvcc makes nothing to read"
            try:
                machine_code(binary)
            except (RuntimeError, OSError) as error:
                return problem(str(error)) or "it ended with an error"
        return ""


def compiler_for(gpu: Gpu) -> CudaCompiler:
    """Return nvcc for the compute capability of a GPU alone, of a toolkit whose programs its driver runs."""
    capability = int(gpu.chip)
    return CudaCompiler((capability,), CudaTarget(capability, gpus.cuda_of(gpu)))


NVIDIA = GpuVendor("CUDA GPU", gpus.INSTALL, gpus.VISIBLE, gpus.gpus, "nvcc", compiler_for, Cuda, ".cu")
"""The GPUs of NVIDIA, whose chips are compute capabilities: 90 for 9.0."""


def compile_ptx(file: Path, code: Path, options: Sequence[str] = ()) -> Compilation:
    """Compile CUDA C++ to PTX with source lines, as ``code``. Raises ``InputError`` where there is no nvcc."""
    toolkit, problem = toolkits.chosen(ANY)
    nvcc = toolkit.tool("nvcc") if toolkit else None
    if toolkit is None or nvcc is None:
        why = f": {problem}" if problem else ""
        raise InputError(f"nvcc is needed for CUDA C++{why}: {INSTALL}", str(file))
    include = toolkit.folder.parent / "include"
    folders = [include / "cccl", include, *_cutlass()]
    headers = [word for folder in folders if folder.is_dir() for word in ("-I", str(folder))]
    target = [] if any(option.startswith("-arch") for option in options) else [f"-arch={PTX_ARCHITECTURE}"]
    standard = [] if any(option.startswith(("-std", "--std")) for option in options) else ["-std=c++17"]
    check_shell(nvcc, *headers)
    words = ["-ptx", "-lineinfo", "-w", *_UNQUOTED, *target, *standard, *headers]
    return handed(file, [nvcc, *words, OPTIONS, "-o", MADE, SOURCE], code, options=options, includes=True)


def compile_sass(file: Path, code: Path, capability: int, options: Sequence[str] = ()) -> Compilation:
    """Compile a CUDA file to machine code for one compute capability, and write it as ``nvdisasm -c`` prints it.

    ``options`` are those of ptxas, such as ``-O0``. Raises ``InputError`` where a tool is missing.
    """
    nvcc, nvdisasm = cuda_tool("nvcc"), cuda_tool("nvdisasm")
    if nvcc is None or nvdisasm is None:
        raise InputError(f"nvcc and nvdisasm are needed for machine code: {INSTALL}", str(file))
    check_shell(nvcc)
    given = [word for option in options for word in ("-Xptxas", option)]
    words = ["-cubin", "-w", "-O2", f"-arch=sm_{capability}", *given]
    with private_folder("compile") as scratch:
        cubin = Path(scratch, "code.cubin")
        done = handed(file, [nvcc, *words, "-o", MADE, SOURCE], cubin)
        if done.ok:
            done = run(file, [nvdisasm, "-c", cubin])
        if done.ok:
            code.write_text(done.output, encoding="utf-8")
    return done


def _cutlass() -> list[Path]:
    """Return the folder of CUTLASS' headers, where PyPI's nvidia-cutlass is installed."""
    found = find_spec("cutlass_library")
    return [Path(found.origin).parent / "source" / "include"] if found and found.origin else []


def _further(toolkit: Toolkit) -> Probed:
    """What a toolkit beside the first is for: GPUs for which that one is too new."""
    problem = "" if toolkit.version else "it says no version"
    return Probed(f"nvcc in {toolkit.folder}", toolkit.version, "run, where another is too new", problem, INSTALL)


def machine_code(program: Path) -> dict[str, str]:
    """Return the SASS of a program that nvcc made, keyed by ``sm_75`` and so on, as ``nvdisasm -c`` prints it.

    Raises ``FileNotFoundError`` where a tool is missing, and ``RuntimeError`` where it finds no code.
    """
    with private_folder("compile") as scratch:
        cuobjdump, nvdisasm = (cuda_tool(name) or name for name in ("cuobjdump", "nvdisasm"))
        copy = Path(scratch, "program")
        shutil.copyfile(program, copy)
        run(program, [cuobjdump, "-xelf", "all", copy.name], Path(scratch))
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
