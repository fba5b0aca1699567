"""clang for AMD's GPUs as a compiler of tests whose machine code is read back, one for each GPU of ``TARGETS``.

The program is the one that is run (``backends.hip.memory``), so marks keep its accesses apart, and clang merges, moves
and drops none. Judged is what it makes of orders, scopes, fences and barriers: instructions with cache bits, waits, and
cache operations. The code between and around the marks of a thread is its program on the machine of the GPU
(``oracle.operational.amdgpu``).

One pass is off, by which a wavefront first adds up what its lanes add, in a loop.

Gaps: those of the machine, which has neither branches nor addresses in registers. Clang keeps the variables of ``-O0``
in scratch memory, which the machine lacks, so that level is left out.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from backends.hip.compiler import INSTALL, TARGETS, CodeTarget, HipCompiler, newest
from backends.hip.memory import HipKernel
from backends.hip.words import said_in_hip
from backends.shared.layout import single
from backends.shared.readback import CodeLanguage, CompiledTest, TestCompiler, compiled_by
from corpus.code.amdgcn.reader import absent, machine_programs
from corpus.code.amdgcn.text import MachineCode, read_assembly, spelled
from corpus.errors import InputError
from corpus.executions.sequences import MachineStep
from corpus.litmus.test import LitmusTest

_LEVELS = ("-O1", "-O2", "-O3")
_EACH_LANE_ALONE = ("-mllvm", "-amdgpu-atomic-optimizer-strategy=None")
_FIRST_WITH_STRATEGY = 17


def _compiled(target: CodeTarget, test: LitmusTest, level: str, folder: Path) -> CompiledTest:
    kernel = HipKernel(single(test))
    clang = newest()
    alone = _EACH_LANE_ALONE if clang is not None and clang.number >= _FIRST_WITH_STRATEGY else ()
    compiler = HipCompiler(clang, (target,), (level, *alone))
    return compiled_by(kernel, test, folder, kernel.file("test"), ".hip", ".s", compiler.assembled)


def _missing(target: CodeTarget) -> list[str]:
    clang = newest()
    return [] if clang is not None and clang.knows(target) else [f"a clang that knows {target.chip} ({INSTALL})"]


def _read(compiled: CompiledTest) -> LitmusTest:
    return said_in_hip(compiled.test)


def _programs(compiled: CompiledTest) -> tuple[tuple[MachineStep, ...], ...]:
    test, code = _read(compiled), _code(compiled)
    for place, problem in absent(test, code):
        raise InputError(f"{spelled([place])}: {problem}", compiled.path)
    return machine_programs(test, code)


def _code(compiled: CompiledTest) -> MachineCode:
    (code,) = read_assembly(compiled.text, compiled.path)
    return code


LANGUAGES = tuple(
    CodeLanguage(machine, machine, _read, _programs) for machine in dict.fromkeys(target.machine for target in TARGETS)
)
"""Machine code of AMD's GPUs, by the machine that it is for."""

COMPILERS = tuple(
    TestCompiler(
        f"clang, {target.chip}",
        target.machine,
        "amdgpu",
        _LEVELS,
        partial(_compiled, target),
        partial(_missing, target),
    )
    for target in TARGETS
)
