"""Makes LLVM of programs in C and C++, as they are written: clang of the system, or that of the wheel ``ziglang``.

Nothing is optimised: accesses are those of the source, each at its line. ``-O1`` without its passes says besides where
the lifetime of variables begins and ends. The functions of the C library that are written in C, in ``library``, are
compiled by the same clang and stand behind the program.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from backends.shared.handing import MADE, OPTIONS, SOURCE, Word, handed
from backends.shared.toolchain import Compilation, Probed, problem, version, which
from corpus.code.llvm.files import ASSUMED_LINE, LIBRARY_LINE
from corpus.errors import InputError
from corpus.files import read_text
from corpus.private import private_folder

INSTALL = "pip install ziglang; Debian: apt install clang"

_AS_WRITTEN = (
    *("-O1", "-Xclang", "-disable-llvm-passes", "-g", "-fno-discard-value-names", "-S", "-emit-llvm"),
    *("-UNDEBUG", "-U_FORTIFY_SOURCE", "-fno-sanitize=all", "-Wno-everything"),
    *("-fsanitize=shift-base,float-cast-overflow,vla-bound", "-fsanitize-trap=all"),  # what the IR leaves out
)
"""The words by which clang writes what a program has."""

_REFUSED = (
    *("-Werror=atomic-memory-ordering", "-Werror=user-defined-warnings"),  # it drops a load that releases
    "-Werror=source-uses-openmp",  # whose pragmas it leaves out
    "-Werror=integer-overflow",  # of constants, which it computes itself
)
"""The words by which clang refuses what it would leave out, behind those of the user's."""

_FAILURE = "failure memory order argument to atomic operation is invalid [-Werror,-Watomic-memory-ordering]"
"""What clang says of an exchange that fails in an order that releases, which a load may not have."""

_VERSIONS = range(25, 14, -1)
_LIBRARY = Path(__file__).with_name("library")
_HEADERS = Path(__file__).with_name("include")
"""The headers of words that verifiers have: ``genmc.h``."""
_PROBE = "int main(void) { return 0; }\n"


class ClangCommand(NamedTuple):
    """A clang: the words that call it for C and for C++, and what it is called."""

    c: tuple[str | Path, ...]
    cpp: tuple[str | Path, ...]
    name: str


def found() -> ClangCommand | None:
    """Return the clang that is used: that of the wheel, else the newest of the system; None where there is none."""
    if find_spec("ziglang") is not None:
        zig = (sys.executable, "-m", "ziglang")
        target = ("-target", "x86_64-linux-musl")
        return ClangCommand((*zig, "cc", *target), (*zig, "c++", *target), "clang of ziglang")
    for suffix in (*(f"-{number}" for number in _VERSIONS), ""):
        c = which(f"clang{suffix}")
        if c is not None:
            return ClangCommand((c,), (which(f"clang++{suffix}") or c,), c.name)
    return None


def compile_c(file: Path, code: Path, options: Sequence[str] = ()) -> Compilation:
    """Compile a program in C. Raises ``InputError`` where there is no clang."""
    return _compiled(file, code, options, "c", "-std=gnu17")


def compile_cpp(file: Path, code: Path, options: Sequence[str] = ()) -> Compilation:
    """Compile a program in C++. Raises ``InputError`` where there is no clang."""
    return _compiled(file, code, options, "cpp", "-std=c++20")


def _compiled(file: Path, code: Path, options: Sequence[str], language: str, standard: str) -> Compilation:
    clang = found()
    if clang is None:
        raise InputError(f"clang is needed for C and C++: {INSTALL}", str(file))
    words: tuple[Word, ...] = clang.c if language == "c" else clang.cpp
    own = [] if any(option.startswith("-std") for option in options) else [standard]
    kind = ["-x", "c"] if language == "c" else ["-x", "c++"]
    headers: list[Word] = (
        ["-isystem", _HEADERS] if language == "c" else ["-I", _LIBRARY / "include", "-isystem", _HEADERS]
    )
    options = [option for option in options if option != "-w"]  # by which it would say nothing of what it leaves out
    command = [*words, *_AS_WRITTEN, *own, *headers, OPTIONS, *_REFUSED, *kind, SOURCE, "-o", MADE]
    done = handed(file, command, code, options=options, includes=True)
    assumed = ""
    if not done.ok and set(re.findall(r"error: (.*)", done.output)) == {_FAILURE}:
        done = handed(file, [*command, "-Wno-error=atomic-memory-ordering"], code, options=options, includes=True)
        assumed = f"{ASSUMED_LINE}an exchange that fails in an order that releases is relaxed, as clang has it\n"
    if not done.ok:
        return done
    program = read_text(code) + assumed
    library = _library(clang, program)
    code.write_text(program + (f"{LIBRARY_LINE}{library}" if library else ""), encoding="utf-8")
    return replace(done, output="")


_DESTROYING = {"sem_destroy", "pthread_cond_destroy", "cnd_destroy"}
"""The functions without which nobody has to look whether a semaphore or condition variable is destroyed."""

_MAKING_KINDS = {"pthread_mutexattr_settype", "mtx_init"}
"""The functions without which nobody has to look whether a mutex is recursive."""


def _library(clang: ClangCommand, program: str) -> str:
    """Return what clang makes of the part of the library that a program calls; nothing where it calls none."""
    called = set(re.findall(r"^declare .*?@\"?([\w.$]+)", program, re.MULTILINE))
    files = _needed(called)
    if not files:
        return ""
    with private_folder("library") as folder:
        source, made = Path(folder, "library.c"), Path(folder, "library.ll")
        source.write_text("".join(file.read_text(encoding="utf-8") for file in files), encoding="utf-8")
        destroys = bool(called & _DESTROYING) or any(name.startswith("_Z") for name in called)
        asks = [f"-DDESTROYS={int(destroys)}", f"-DKINDS={int(bool(called & _MAKING_KINDS))}"]
        done = handed(
            source,
            [*clang.c, *_AS_WRITTEN, "-std=gnu17", "-fwrapv", "-fno-sanitize=all", *asks, SOURCE, "-o", MADE],
            made,
        )
        if not done.ok:
            raise InputError(f"the library is not compiled: {problem(done.output)}")
        return re.sub(r"@\.str\b", "@.library.str", read_text(made))


def _needed(called: set[str]) -> list[Path]:
    """Return the files of the library that have functions of these names, and those that these files call."""
    every = sorted(_LIBRARY.glob("*.c"))
    found = [file for file in every if called & _defined(file)]
    for file in found:  # which become more
        words = set(re.findall(r"\w+", file.read_text(encoding="utf-8")))
        found += [other for other in every if other not in found and words & _defined(other)]
    return sorted(found)


@cache
def _defined(file: Path) -> frozenset[str]:
    """Return the functions that a file of the library has, by the names that they have in code."""
    text = file.read_text(encoding="utf-8")
    plain = re.findall(r"^[a-z][\w *]*?\b(\w+)\((?:[^;]*$|[^;)]*\) \{)", text, re.MULTILINE)
    return frozenset((*plain, *re.findall(r"\b_Z\w+", text), *re.findall(r"NAMED\(\"?(__\w+)\"?\)", text)))


def probed() -> Probed:
    """Report on clang, tried on a small program."""
    clang, purpose = found(), "read programs in C and C++ (check)"
    if clang is None:
        return Probed("clang", "", purpose, "not installed", INSTALL)
    with private_folder("probe") as folder:
        file = Path(folder, "probe.c")
        file.write_text(_PROBE, encoding="utf-8")
        done = compile_c(file, file.with_suffix(".ll"))
    trouble = "" if done.ok else problem(done.output) or "it ended with an error"
    return Probed(clang.name, version([*clang.c, "--version"], r"version (\S+)"), purpose, trouble, INSTALL)
