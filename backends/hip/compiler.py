"""Drives clang for AMD's GPUs: as compiler of programs that are only checked, and as reader of their machine code.

clang alone makes machine code of HIP (``--cuda-device-only``). What it lacks without ROCm is the header of HIP, and
``backends/hip/include`` has as much of that as our programs use. So a program is checked for every GPU that the clang
knows, and its host is checked as well; what runs on a GPU is made by hipcc, of ROCm.

What is kept of a program that is checked is its assembly for all GPUs, one after the other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from backends.hip.gpus import AMD
from backends.hip.progress import Hip
from backends.shared import clang_llvm
from backends.shared.handing import MADE, SOURCE, handed
from backends.shared.log import as_string
from backends.shared.toolchain import TIMEOUT, Compilation, Compiler, Probed, run, tried, version, which
from corpus.code.amdgcn.text import machine_of
from corpus.errors import InputError
from corpus.private import private_folder


@dataclass(frozen=True, slots=True)
class CodeTarget:
    """A GPU in a mode of execution: the name that clang has for it, and clang's options for the mode."""

    chip: str
    options: tuple[str, ...] = ()

    @property
    def machine(self) -> str:
        """The name that tables of code sequences have for it."""
        wgp = self.chip.startswith("gfx1") and "-mcumode" not in self.options
        return machine_of(self.chip, "-mtgsplit" in self.options, wgp)


TARGETS = (
    CodeTarget("gfx90a"),
    CodeTarget("gfx942"),
    CodeTarget("gfx1030"),
    CodeTarget("gfx1100"),
    CodeTarget("gfx1200"),
)
"""What programs are checked for: a GPU of each family that there is a table for, in the mode that is clang's own. A
clang that does not know one of them leaves it out: clang 15 has neither gfx942 nor gfx1200."""

OTHER_MODES = (
    CodeTarget("gfx90a", ("-mtgsplit",)),
    CodeTarget("gfx942", ("-mtgsplit",)),
    CodeTarget("gfx1030", ("-mcumode",)),
    CodeTarget("gfx1100", ("-mcumode",)),
    CodeTarget("gfx1200", ("-mcumode",)),
)
"""The same GPUs in the other mode, for which there are tables as well."""

INSTALL = "pip install ziglang; Debian: apt install clang-19"

_VERSIONS = range(24, 14, -1)
_VERSION = r"version (\d[\d.]*)"
_NEEDS = re.compile(r"^// Needs clang (\d+)", re.MULTILINE)
HEADERS = Path(__file__).with_name("include")
_OPTIONS = ("-x", "hip", "-std=c++17", "-Wall", "-Werror", "-nogpuinc", "-nogpulib")


@dataclass(frozen=True, slots=True)
class Clang:
    """A clang that makes code for GPUs of AMD. ``words`` call it, where these are not its path alone."""

    path: Path
    version: str
    words: tuple[str | Path, ...] = ()

    @property
    def command(self) -> tuple[str | Path, ...]:
        """The words that call it."""
        return self.words or (self.path,)

    @property
    def number(self) -> int:
        """The major version."""
        return int(self.version.partition(".")[0])

    def knows(self, target: CodeTarget) -> bool:
        """Whether it makes code for a GPU."""
        return _makes_code(self.command, target.chip)


def clangs() -> Iterator[Clang]:
    """Yield every clang that makes code for the oldest GPU of ``TARGETS``, the newest first: those of the system, and
    that of the wheel ``ziglang``, with the headers of the wheel.
    """
    yield from sorted(_clangs(), key=lambda clang: clang.number, reverse=True)


def _clangs() -> Iterator[Clang]:
    wheel = clang_llvm.clang()
    if wheel is not None and wheel.wheel:
        words = (*wheel.words, *clang_llvm.wheel_headers())
        if _makes_code(words, TARGETS[0].chip):
            yield Clang(Path(wheel.name), wheel.version, words)
    for name in (*(f"clang-{number}" for number in _VERSIONS), "clang"):
        path = which(name)
        if (
            path is not None
            and _makes_code((path,), TARGETS[0].chip)
            and (number := version([path, "--version"], _VERSION))
        ):
            yield Clang(path, number)


@cache
def newest() -> Clang | None:
    """Return the first of ``clangs``, if there is one."""
    return next(clangs(), None)


@cache
def _makes_code(command: tuple[str | Path, ...], chip: str) -> bool:
    with private_folder("compile") as folder:
        file = Path(folder, "empty.hip")
        file.write_text("", encoding="utf-8")
        words = ("--cuda-device-only", f"--offload-arch={chip}", "-S", file, "-o", "-")
        return run(file, [*command, *_OPTIONS, *words]).ok


@dataclass(frozen=True, slots=True)
class HipCompiler:
    """clang for some GPUs, those that it knows, by options for how it optimises; by default the newest clang."""

    clang: Clang | None = None
    targets: tuple[CodeTarget, ...] = TARGETS
    optimised: tuple[str, ...] = ("-O2",)

    @property
    def _found(self) -> Clang | None:
        return self.clang or newest()

    def missing(self) -> list[str]:
        """Return what is missing to compile HIP, each with the way to get it; empty if nothing is."""
        return [] if self._found else [f"a clang that makes code for AMD's GPUs ({INSTALL})"]

    def compile(self, file: Path, binary: Path | None = None, timeout: float = TIMEOUT) -> Compilation:
        """Compile a HIP file for each GPU, and look at its host; ``binary`` keeps the assembly. Raises ``InputError``
        where the clang knows none of the GPUs.
        """
        made = self.assembled(file, binary, timeout)
        if not made.ok or self._found is None:
            return made
        return _run(self._found, file, [*self.optimised, "--cuda-host-only", "-fsyntax-only"], timeout)

    def assembled(self, file: Path, binary: Path | None = None, timeout: float = TIMEOUT) -> Compilation:
        """Compile a HIP file for each GPU, and leave its host aside; ``binary`` keeps the assembly. Raises
        ``InputError`` where the clang knows none of the GPUs.
        """
        clang = self._found
        if clang is None:
            raise FileNotFoundError("no clang")
        targets = [target for target in self.targets if clang.knows(target)]
        if not targets:
            raise InputError(
                f"clang {clang.version} does not know {' or '.join(target.chip for target in self.targets)}"
            )
        needs = _NEEDS.search(file.read_text(encoding="utf-8"))
        if needs is not None and clang.number < int(needs[1]):
            return Compilation(file, False, f"it needs clang {needs[1]}, and this is {clang.version}")
        texts = []
        with private_folder("compile") as folder:
            kept = Path(folder, "code.s")
            for target in targets:
                chosen = ("--cuda-device-only", f"--offload-arch={target.chip}", *target.options, *self.optimised)
                done = _run(clang, file, [*chosen, "-S", "-o"], timeout, kept)
                if not done.ok:
                    return Compilation(file, False, f"{target.chip}: {done.output}")
                texts.append(kept.read_text(encoding="utf-8"))
        if binary is not None:
            binary.write_text("".join(texts), encoding="utf-8")
        return done

    def probe(self) -> list[Probed]:
        """Report on the clang that is used, and on GPUs."""
        clang, purpose = self._found, "compile and read (--check)"
        if clang is None:
            return [Probed("clang for AMD's GPUs", "", purpose, "not installed", INSTALL), *AMD.probed()]
        name = f"{clang.path.name} for {', '.join(target.chip for target in TARGETS if clang.knows(target))}"
        trouble = tried(self, Hip, ".hip", ending=as_string("{}"))
        return [Probed(name, clang.version, purpose, trouble, INSTALL), *AMD.probed()]


def _run(
    clang: Clang, file: Path, words: Sequence[str | Path], timeout: float, kept: Path | None = None
) -> Compilation:
    """Run clang on a file; ``kept``: the words end in the option that names what it makes."""
    made = [MADE] if kept else []
    return handed(file, [*clang.command, *_OPTIONS, "-isystem", HEADERS, *words, *made, SOURCE], kept, timeout=timeout)


COMPILER: Compiler = HipCompiler()
