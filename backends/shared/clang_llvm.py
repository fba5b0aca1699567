"""Finds the clang that makes LLVM of kernels: that of the wheel ``ziglang``, or a newer one of the system.

What it makes is read as it is (``corpus.code.llvm``), so neither LLVM's SPIR-V translator nor root is needed. Nothing
is optimised: the accesses of memory are those of the source, each at its line, and lifetimes of variables are said.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from functools import cache
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from backends.shared.toolchain import TIMEOUT, version, which

INSTALL = "pip install ziglang"

AS_WRITTEN = ("-O1", "-Xclang", "-disable-llvm-passes", "-g", "-fno-discard-value-names", "-S", "-emit-llvm")
"""The words by which clang writes what a kernel has."""

_VERSIONS = range(25, 17, -1)
_OLDEST = 18


class InstalledClang(NamedTuple):
    """A clang: the words that call it, and what it is called. ``wheel``: it has no header of OpenCL C."""

    words: tuple[str | Path, ...]
    name: str
    wheel: bool = False

    @property
    def version(self) -> str:
        """The version, as clang says it."""
        return version([*self.words, "--version"], r"version (\S+)")


def clang() -> InstalledClang | None:
    """Return the clang that is used: that of the wheel, else the newest of the system; None where there is none."""
    if find_spec("ziglang") is not None:
        return InstalledClang((sys.executable, "-m", "ziglang", "clang"), "clang of ziglang", True)
    for name in (*(f"clang-{number}" for number in _VERSIONS), "clang"):
        path = which(name)
        if path is not None and (found := InstalledClang((path,), path.name)) and _major(found) >= _OLDEST:
            return found
    return None


def _major(found: InstalledClang) -> int:
    number = re.match(r"\d+", found.version)
    return int(number[0]) if number else 0


@cache
def wheel_headers() -> tuple[str, ...]:
    """Return the words by which the clang of the wheel finds the headers of C and C++ that are in the wheel: those that
    its driver for Linux hands to it.
    """
    words = (sys.executable, "-m", "ziglang", "c++", "-target", WHEEL_HOST, "-x", "c++", "-E", "-v", "-", "-o", "-")
    done = subprocess.run(words, input="", capture_output=True, text=True, timeout=TIMEOUT, check=False)
    line = next((line for line in done.stderr.splitlines() if " -isystem " in line), "")
    found = shlex.split(line)
    pairs = [*pairwise(found)]
    own = [(option, os.path.abspath(value)) for option, value in pairs if option == "-isystem"]
    own += [(option, value) for option, value in pairs if value.startswith("_LIBC")]
    return ("-target", WHEEL_HOST, "-nostdinc", "-nostdinc++", *(word for pair in own for word in pair))


WHEEL_HOST = "x86_64-linux-musl"
"""The machine whose headers the wheel's clang is given for host code."""
