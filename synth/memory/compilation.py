"""The compilation of litmus tests by ``synth compile``. Each becomes a program, which real compilers may check."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from backends.shared.backend import Backend
from backends.shared.files import file_stem, write_files
from backends.shared.layout import cpu_parameters, place
from backends.shared.profiles import Profile
from corpus.errors import InputError, one_line
from corpus.litmus.test import LitmusTest
from corpus.runner_tests import SCHEMA, print_runner_test, schema
from synth.inputs import Input, readable
from synth.memory.conversion import of_input
from synth.pool import cores
from synth.screen import printable_lines, watched


@dataclass(frozen=True, slots=True)
class _Program:
    """A litmus test, and the file of its program."""

    file: Path
    test: LitmusTest


def compile_memory(
    files: Sequence[Input],
    backend: Backend,
    instances: int,
    iterations: int,
    profile: Profile,
    cpu: bool,
    output: Path,
    check: bool,
    as_json: bool = False,
) -> int:
    """Write a program for each test that the language can say into ``output``; a line on stderr names each other test.

    A program launches ``instances`` of the test, ``iterations`` times where it cannot be told that number at run time;
    with ``cpu`` it is launched as a CPU needs it. ``as_json``: write an object for runners beside each program.

    With ``check``, compile all programs, and check them as the language requires. Returns the exit code: 1 if that
    finds anything, or a file cannot be read. Raises ``InputError`` where none can be read, two share a file name, or no
    test can be said.
    """
    tests, unreadable = readable(files, Input.litmus)
    for error in unreadable:
        click.echo(f"synth: {error}", err=True)
    _check_names(list(tests))
    launched = cpu_parameters if cpu else backend.launched
    programs = []
    for file, test in tests.items():
        try:
            shape = place(test, launched(test, instances, profile, iterations))
            texts = backend.memory_files(file.name, shape, profile.label)
        except InputError as error:
            click.echo(one_line(f"{file}: {error}"), err=True)
            continue
        program = next(iter(texts))
        if as_json:
            made = of_input(file, test, backend.compiled(texts, shape))
            texts |= {f"{program.removesuffix(backend.suffix)}.json": print_runner_test(made), SCHEMA: schema()}
        write_files(output, texts, durable=False)
        programs.append(_Program(output / program, test))
    if not programs:
        raise InputError(f"{backend.name} can say none of the {len(tests)} tests")
    os.sync()
    click.echo(f"{len(programs)} of {len(tests)} tests in {output}", err=True)
    sound = not check or _check(programs, backend)
    return 0 if sound and not unreadable else 1


def _check_names(files: Sequence[Input]) -> None:
    stems: dict[str, Input] = {}
    for file in files:
        other = stems.setdefault(file_stem(file.name).lower(), file)  # some file systems ignore case
        if other != file:
            raise InputError(f"two tests share a file name: {other} and {file}")


def _check(programs: Sequence[_Program], backend: Backend) -> bool:
    """Compile the programs and print what is wrong with them; return whether all compile."""
    with ThreadPoolExecutor(cores()) as pool:  # compilers do the work, in processes of their own
        try:
            checked = pool.map(lambda program: _problems(program, backend), programs)
            found = list(watched(checked, len(programs), "Compiling"))
        finally:  # an interruption waits for the compilers that run, and starts no other
            pool.shutdown(wait=False, cancel_futures=True)
    for program, (_, problems) in zip(programs, found, strict=True):
        for problem in problems:
            click.echo(printable_lines(f"{program.file}: {problem}"), err=True)
    compiled = sum(compiles for compiles, _ in found)
    click.echo(f"{compiled} of {len(programs)} compile", err=True)
    if backend.check is not None:
        passed = sum(not problems for _, problems in found)
        click.echo(f"{passed} of {compiled} pass {backend.check.name}", err=True)
    return not any(problems for _, problems in found)


def _problems(program: _Program, backend: Backend) -> tuple[bool, list[str]]:
    """Return whether a program compiles, and the problems that the compiler or the language's check has with it."""
    with TemporaryDirectory() as scratch:
        binary = Path(scratch, "program")
        compilation = backend.compiler.compile(program.file, binary)
        if not compilation.ok:
            return False, [f"does not compile\n{compilation.output}"]
        return True, [] if backend.check is None else backend.check.problems(program.test, binary)
