"""Programs before and after a translation, from files: litmus tests in any dialect, and kernels in PTX, SPIR-V or C.

Of a kernel, what a launch leaves of it is the program, as ``synth check`` reads it; it observes what memory holds at
its end. In a folder, a program is called as its file is, without the end of that name, and the pairs are those of one
name: ``before/mp.litmus`` and ``after/mp.ptx``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from corpus.code.registry import format_of
from corpus.errors import InputError
from corpus.litmus.locations import Loc
from corpus.litmus.propositions import And, Condition, FinalRegister, Quantifier, Term
from corpus.litmus.test import LitmusTest
from synth.checking.sources import read_kernels
from synth.checking.tasks import KernelTask, tasks_of
from synth.folders import files_below
from synth.inputs import Input, expand
from synth.requests import LaunchWords

MODELS: Mapping[str, str] = {"c": "rc11", "opencl": "opencl", "gpu-ptx": "ptx", "ptx": "ptx", "vulkan": "vulkan"}
"""The model of each dialect of litmus tests, where no other is named; LISA's tests are of no language."""

_REGISTER = re.compile(r"P?(\d+):(\S+)")


@dataclass(frozen=True)
class ProgramFile:
    """A program of a side: a litmus test, or the path of a file with a kernel."""

    name: str
    given: Input | Path

    def __str__(self) -> str:
        return str(self.given)


@dataclass(frozen=True)
class ProgramPair:
    """A program before and after its translation."""

    name: str
    before: ProgramFile
    after: ProgramFile


@dataclass(frozen=True)
class ReadProgram:
    """A program as a litmus test, and the model of its language. ``kernel``: it is what is left of one, whose memory
    begins as zeros.
    """

    test: LitmusTest
    model: str
    kernel: bool = False


def pairs_of(before: str, after: str) -> tuple[list[ProgramPair], list[str]]:
    """Return the pairs of two files, whatever their names, or of two folders, and a line for each program that has no
    partner.

    Raises ``InputError`` where one is a folder and the other none, where two programs of a side have one name, or where
    no two have one.
    """
    folders = [os.path.isdir(path) for path in (before, after)]
    if folders[0] != folders[1]:
        raise InputError("expected two files, or two folders", before if folders[1] else after)
    sides = [_files(path) for path in (before, after)]
    if not folders[0] and [len(side) for side in sides] == [1, 1]:
        ((name, one),), ((_, other),) = (side.items() for side in sides)
        return [ProgramPair(name, one, other)], []
    found = [ProgramPair(name, sides[0][name], sides[1][name]) for name in sides[0] if name in sides[1]]
    alone = [f"{path}: no program of this name in {after}" for name, path in sides[0].items() if name not in sides[1]]
    alone += [f"{path}: no program of this name in {before}" for name, path in sides[1].items() if name not in sides[0]]
    if not found:
        raise InputError(f"no two programs have one name; {alone[0]}")
    return found, alone


def _files(path: str) -> dict[str, ProgramFile]:
    """Return the programs of a path by their names."""
    folder = Path(path) if os.path.isdir(path) else None
    every = [Path(path)] if folder is None else [file.path for file in files_below(folder) if not file.link]
    kernels = [path for path in sorted(every) if format_of(path) and path.is_file()]
    files: list[ProgramFile] = [ProgramFile(_name(kernel, folder), kernel) for kernel in kernels]
    if not kernels or any(path.suffix == ".litmus" for path in every):
        tests = expand([path])
        files += [ProgramFile(test.name if test.record else _name(test.path, folder), test) for test in tests]
    found: dict[str, ProgramFile] = {}
    for file in files:
        other = found.setdefault(file.name, file)
        if other is not file:
            raise InputError(f"{other} and {file} have one name, {file.name}")
    return found


def _name(file: Path, folder: Path | None) -> str:
    """Return the name of a program: that of its file, in the folder that was named."""
    plain = file.with_suffix("")
    return str(plain.relative_to(folder)) if folder and plain.is_relative_to(folder) else plain.name


def read_program(file: ProgramFile, launch: LaunchWords, options: Sequence[str] = ()) -> ReadProgram:
    """Return a program of a side. Raises ``InputError`` where it cannot be read, or has several kernels or launches."""
    if isinstance(file.given, Input):
        from corpus.dialects.registry import dialect_of, parse_litmus

        text = file.given.text()
        test = parse_litmus(text, file.given.place, file.given.bell)
        return ReadProgram(test, MODELS.get(dialect_of(text).name, ""))
    from corpus.code.program import program_of

    kernels = read_kernels(file.given, options)
    tasks = list[KernelTask]()
    for task in tasks_of(kernels, launch):
        if all((task.kernel.name, task.launch) != (known.kernel.name, known.launch) for known in tasks):
            tasks.append(task)  # comments may expect several things of one launch
    if len(tasks) != 1:
        wanted = "one kernel with one launch: --kernel, --grid and --block name them"
        raise InputError(f"expected {wanted}, found {len(tasks)}", str(file.given))
    (task,) = tasks
    program = program_of(task.file.module, task.kernel, task.launch)
    condition = Condition(Quantifier.EXISTS, And(()), observed=tuple(map(Loc, program.lasting)))
    return ReadProgram(replace(program.test, condition=condition), kernels.language.model, kernel=True)


def beginning_as(after: ReadProgram, before: ReadProgram, names: Mapping[Term, Term]) -> LitmusTest:
    """Return the program after, whose memory begins as that of the program before where it is a kernel.

    Raises ``InputError`` where a location of two litmus tests has another value at the start.
    """
    begun = {location.name: location.initial for location in before.test.locations}
    locations = []
    for location in after.test.locations:
        name = names.get(Loc(location.name), Loc(location.name))
        initial = begun.get(name.name, location.initial) if isinstance(name, Loc) else location.initial
        if initial != location.initial and not after.kernel:
            raise InputError(
                f"{location.name} is {location.initial} at the start, and {initial} before", after.test.name
            )
        locations.append(replace(location, initial=initial))
    return replace(after.test, locations=tuple(locations))


def renaming(words: Sequence[str]) -> dict[Term, Term]:
    """Return what is said of names, ``memory[1]=y`` or ``results=P1:r0``, as terms of the program after and before.

    Raises ``InputError`` where a word says nothing of the kind, or two give one name.
    """
    found: dict[Term, Term] = {}
    for word in words:
        after, sign, before = word.partition("=")
        if not (after and sign and before):
            raise InputError(f"--name: expected AFTER=BEFORE, such as memory[1]=y or out=P1:r0, found '{word}'")
        if found.setdefault(_term(after), _term(before)) != _term(before):
            raise InputError(f"--name: {after} has two names")
    if len(set(found.values())) < len(found):
        raise InputError("--name: two registers or locations get one name")
    return found


def _term(word: str) -> Term:
    register = _REGISTER.fullmatch(word)
    return FinalRegister(int(register[1]), register[2]) if register else Loc(word)
