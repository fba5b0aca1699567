"""Makes LLVM of OpenCL C, as it is written, where clang has no SPIR-V translator beside it; the wheel ``ziglang`` does.
clang's own back end makes SPIR-V as well, as it optimises it.

That clang has no header of OpenCL C. PoCL's wheel has one, and so has any clang of the system.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from backends.shared.clang_llvm import AS_WRITTEN, INSTALL, InstalledClang, clang
from backends.shared.handing import MADE, OPTIONS, SOURCE, handed
from backends.shared.toolchain import Compilation, installed
from corpus.errors import InputError

NEEDED = f"{INSTALL} pocl-binary-distribution; or Debian: apt install clang-15 llvm-spirv-15"

_TARGET = ("-target", "spir64-unknown-unknown")
_OWN_TARGET = ("-target", "spirv64-unknown-unknown")
_WORDS = ("-x", "cl", "-cl-no-stdinc", "-Xclang", "-finclude-default-header")
_WORDS_FOR_SUBGROUPS = ("-Dcl_khr_subgroups=1", "-D__opencl_c_subgroups=1")
"""What older headers ask for before they declare the functions of subgroups."""

_HEADER = "opencl-c.h"
_FOLDERS = ("/usr/lib/llvm-*/lib/clang/*/include", "/usr/lib/clang/*/include", "/usr/lib64/clang/*/include")


def header() -> Path | None:
    """Return the folder that has the header of OpenCL C; None where there is none."""
    found = installed("pocl-binary-distribution", _HEADER)
    if found is not None:
        return found.parent
    every = (path for folder in _FOLDERS for path in Path("/").glob(f"{folder[1:]}/{_HEADER}"))
    return max((path.parent for path in every), default=None)


def missing() -> str:
    """Return what is missing to make LLVM of OpenCL C; nothing where all is there."""
    found = clang()
    if found is None:
        return "clang"
    return "the header opencl-c.h" if found.wheel and header() is None else ""


def compile_kernels(file: Path, code: Path, options: Sequence[str], standard: Sequence[str]) -> Compilation:
    """Compile OpenCL C to LLVM with source lines, as ``code``; ``options`` are clang's. Raises ``InputError`` where
    clang or the header is missing.
    """
    found = clang()
    if found is None or missing():
        raise InputError(f"clang, and its header of OpenCL C, are needed for OpenCL C: {NEEDED}", str(file))
    words = [*found.words, *_TARGET, *_WORDS, *_folder(found), *_WORDS_FOR_SUBGROUPS, *AS_WRITTEN]
    return handed(file, [*words, _QUIET, *standard, OPTIONS, SOURCE, "-o", MADE], code, options=options, includes=True)


_QUIET = "-Wno-macro-redefined"
"""The word by which clang says nothing of what it defines itself."""


def optimised(file: Path, code: Path, words: Sequence[str]) -> Compilation:
    """Compile OpenCL C to SPIR-V by clang's own back end, with words for the language and the level. Raises
    ``InputError`` where clang or the header is missing.
    """
    found = clang()
    if found is None or missing():
        raise InputError(f"clang, and its header of OpenCL C, are needed for OpenCL C: {NEEDED}", str(file))
    command = [*found.words, *_OWN_TARGET, *_WORDS, *_folder(found), *_WORDS_FOR_SUBGROUPS, _QUIET, *words]
    return handed(file, [*command, "-c", SOURCE, "-o", MADE], code)


def _folder(found: InstalledClang) -> list[str | Path]:
    folder = header() if found.wheel else None
    return ["-I", folder] if folder else []
