"""Looks at the machine code of HIP memory tests: whether a test is still the test (optcheck), and what its instructions
became beside tables of code sequences.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from backends.hip.compiler import OTHER_MODES, TARGETS, HipCompiler
from backends.hip.words import said_in_hip
from backends.shared.backend import ProgramCheck
from corpus.code.amdgcn.reader import RowCheck, absent, held_against
from corpus.code.amdgcn.text import MachineCode, read_assembly
from corpus.executions.sequences import SequenceTable
from corpus.litmus.describe import describe
from corpus.litmus.test import LitmusTest


def machine_codes(program: Path) -> tuple[MachineCode, ...]:
    """Return the machine code that ``HipCompiler`` kept of a program, for each GPU."""
    return read_assembly(program.read_text(encoding="utf-8"), str(program))


def _problems(test: LitmusTest, program: Path) -> list[str]:
    test = said_in_hip(test)
    return [
        f"{code.chip}: {describe_problem(test, place, problem)}"
        for code in machine_codes(program)
        for place, problem in absent(test, code)
    ]


OPTCHECK = ProgramCheck("optcheck", _problems)
"""Each access, fence and barrier of a test must be in the machine code for each GPU, with its one access."""


def compiler_for(tables: Sequence[SequenceTable]) -> HipCompiler:
    """Return the compiler for the GPUs and modes that tables are for."""
    machines = {table.machine for table in tables}
    return HipCompiler(targets=tuple(target for target in (*TARGETS, *OTHER_MODES) if target.machine in machines))


def rows(test: LitmusTest, program: Path, tables: Sequence[SequenceTable]) -> Iterator[tuple[MachineCode, RowCheck]]:
    """Yield the code of each instruction of a test beside its row, for each GPU and each table that is for it. Raises
    ``InputError`` where a table has no such row.
    """
    test = said_in_hip(test)
    for code in machine_codes(program):
        for table in tables:
            if table.machine == code.machine:
                yield from ((code, check) for check in held_against(test, code, table))


def describe_problem(test: LitmusTest, place: tuple[int, int], problem: str) -> str:
    """Return what is wrong with the code of an instruction, with the instruction in words."""
    thread, number = place
    return f"P{thread}: {describe(test.threads[thread].instructions[number])}: {problem}"
