"""Real compilers: finds them, and has them compile what a back end wrote; and the disassembler of what nvcc made.

nvcc comes from the ``cuda`` extra (PyPI) or from PATH, and needs g++ as its host compiler; glslang and spirv-val are
the Debian packages glslang-tools and spirv-tools; OpenCL kernels are built by PoCL through pyopencl. Nothing goes
through a shell, and every call has a time-out.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from backends.glsl.progress import shaders
from backends.opencl import device as opencl

CUDA_ARCHITECTURES = (75, 90)
"""Compute capabilities compiled for: the oldest that CUDA 13 takes (Turing), and Hopper."""

CPP_FLAGS = ("-std=c++20", "-O2", "-pthread", "-Wall", "-Wextra", "-Werror")

TIMEOUT = 300.0
"""Seconds that one compiler may take; far more than it needs."""


@dataclass(frozen=True, slots=True)
class Compilation:
    """What a compiler said of a file. ``output`` is all that it wrote, empty where it had nothing to say."""

    file: Path
    ok: bool
    output: str


def cuda_tool(name: str) -> Path | None:
    """A tool of the CUDA toolkit, such as nvcc or cuobjdump: the one from PyPI before the one on PATH."""
    spec = find_spec("nvidia")
    for folder in (spec and spec.submodule_search_locations) or ():
        for tool in sorted(Path(folder).glob(f"cu*/bin/{name}"), reverse=True):
            return tool
    return _which(name)


def _which(*names: str) -> Path | None:
    return next((Path(found) for name in names if (found := shutil.which(name))), None)


def missing(backend: str) -> list[str]:
    """What this machine lacks to compile the files of a back end, each with the way to get it; empty if nothing."""
    needs: dict[str, list[tuple[Callable[[], object], str]]] = {
        "cuda": [
            *(
                (partial(cuda_tool, name), f"{name} (pip install 'synth[cuda]')")
                for name in ("nvcc", "cuobjdump", "nvdisasm")
            ),
            (lambda: _which("g++"), "g++"),
        ],
        "opencl": [(opencl.find_device, "PoCL (pip install 'pyopencl[pocl]')")],
        "glsl": [
            (lambda: _which("glslangValidator", "glslang"), "glslangValidator (Debian: glslang-tools)"),
            (lambda: _which("spirv-val"), "spirv-val (Debian: spirv-tools)"),
        ],
        "cpp": [(lambda: _which("g++"), "g++")],
    }
    return [name for find, name in needs[backend] if find() is None]


def compile_file(file: Path, binary: Path | None = None, memory: bool = False) -> Compilation:
    """Compile a file that a back end wrote, whichever its suffix says; ``binary`` keeps the program, if there is one.

    ``memory`` says that it is a memory test, for whose OpenCL kernels there is another host.

    Raises ``FileNotFoundError`` where a compiler is missing (see ``missing``).
    """
    with TemporaryDirectory() as scratch:
        output = Path(scratch)
        target = str(binary or output / "program")
        match file.suffix:
            case ".cpp":
                return _run(file, ["g++", *CPP_FLAGS, "-o", target, str(file.resolve())])
            case ".cu":
                return _run(file, _cuda(file, target))
            case ".cl":
                command = opencl.memory_command if memory else opencl.command
                return _run(file, [*command(file), "0"])
            case ".amber":
                return _glsl(file, output)
    raise ValueError(f"no back end writes {file.suffix} files")


def machine_code(program: Path) -> dict[str, str]:
    """The SASS of a program that nvcc made, ``sm_75`` and so on, as ``nvdisasm -c`` prints it.

    Raises ``FileNotFoundError`` where a tool is missing, and ``RuntimeError`` where it finds no code.
    """
    with TemporaryDirectory() as scratch:
        cuobjdump, nvdisasm = (str(cuda_tool(name) or name) for name in ("cuobjdump", "nvdisasm"))
        _run(program, [cuobjdump, "-xelf", "all", str(program.resolve())], scratch)
        codes = {}
        for cubin in sorted(Path(scratch).glob("*.cubin")):
            disassembly = _run(program, [nvdisasm, "-c", str(cubin)])
            if not disassembly.ok:
                raise RuntimeError(disassembly.output)
            codes[cubin.name.split(".")[-2]] = disassembly.output
        if not codes:
            raise RuntimeError(f"no machine code in {program}")
        return codes


def _cuda(file: Path, target: str) -> list[str]:
    codes = [f"-gencode=arch=compute_{number},code=sm_{number}" for number in CUDA_ARCHITECTURES]
    return [str(cuda_tool("nvcc") or "nvcc"), "-O2", "-Werror=all-warnings", *codes, "-o", target, str(file.resolve())]


def _glsl(file: Path, output: Path) -> Compilation:
    source, binary = output / "test.comp", output / "test.spv"
    glslang = str(_which("glslangValidator", "glslang") or "glslangValidator")
    compiled = Compilation(file, False, "no shader in the script")
    for shader in shaders(file.read_text(encoding="utf-8")):
        source.write_text(shader, encoding="utf-8")
        compiled = _run(file, [glslang, "-V", "--quiet", "--target-env", "spirv1.5", "-o", str(binary), str(source)])
        if compiled.ok:
            compiled = _run(file, ["spirv-val", "--target-env", "vulkan1.2", str(binary)])
        if not compiled.ok:
            break
    return compiled


def _run(file: Path, command: Sequence[str], folder: str | None = None) -> Compilation:
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=TIMEOUT,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired:
        return Compilation(file, False, f"{Path(command[0]).name} took more than {TIMEOUT:g} seconds")
    return Compilation(file, done.returncode == 0, (done.stdout + done.stderr).strip())
