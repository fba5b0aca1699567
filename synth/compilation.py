"""The programs of tests that ``synth compile`` makes: a folder of them, or a bundle of all.

A bundle is for back ends that make one artefact of all tests. A family says which programs a test has, and what a
bundle says of it; programs are written here, and compiled where that is asked for.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from backends.shared.backend import Backend
from backends.shared.bundle import Bundle, BundledTest
from backends.shared.files import write_files
from backends.shared.layout import Layout
from backends.shared.mapping import Launch
from backends.shared.profiles import Profile
from corpus.errors import InputError, printable
from corpus.litmus.test import LitmusTest
from corpus.private import private_folder
from corpus.runner_tests import SCHEMA, Compiled, RunnerTest, print_runner_test, schema
from synth.pool import cores
from synth.watch import gathered, watched

Item = TypeVar("Item")
Way = TypeVar("Way")


@dataclass(frozen=True, slots=True)
class Making:
    """The options of ``synth compile``.

    Progress tests use ``mappings`` and ``placements``, memory tests ``cpu`` and ``profiles``, and both use
    ``instances`` of a launch and ``iterations``. Back ends that bundle all tests take several ``profiles`` and
    ``random`` further ones, and set memory tests against ``models``. ``as_json``: write an object for runners beside
    each program.
    """

    mappings: tuple[str, ...]
    placements: tuple[str, ...]
    instances: int | None
    iterations: int
    cpu: bool
    profiles: tuple[Profile, ...] = ()
    random: int = 0
    models: tuple[str, ...] = ()
    as_json: bool = False


@dataclass(frozen=True, slots=True)
class ProgramFiles:
    """The files of a program, its own first, the launch that they are written for, and the test as runners have it.

    ``test`` is that of a program which the language's own check looks at, too.
    """

    files: Mapping[str, str]
    shape: Launch | Layout
    for_runners: Callable[[Compiled], RunnerTest]
    test: LitmusTest | None = None


@dataclass(frozen=True, slots=True)
class ProgramText:
    """A program that may be compiled: its name in messages, its text, and the file that has it, if one does."""

    name: str
    text: str
    file: Path | None = None
    test: LitmusTest | None = None


def write_programs(
    programs: Iterable[ProgramFiles], backend: Backend, output: Path, as_json: bool
) -> list[ProgramText]:
    """Write programs into ``output``, each with an object for runners beside it where that is asked for.

    Raises ``InputError`` where the folder cannot be written to.
    """
    written = []
    for program in watched(programs, None, "Writing"):
        name, text = next(iter(program.files.items()))
        files = dict(program.files)
        if as_json:
            made = program.for_runners(backend.compiled(files, program.shape))
            files[f"{name.removesuffix(backend.suffix)}.json"] = print_runner_test(made)
        write_files(output, files, durable=False)
        written.append(ProgramText(str(output / name), text, output / name, program.test))
    if written and as_json:
        write_files(output, {SCHEMA: schema()}, durable=False)
    os.sync()
    return written


@dataclass(frozen=True, slots=True)
class WrittenPrograms:
    """The programs of tests that were written: where they are, and how many of how many, in words.

    ``unread``: a file was no test.
    """

    programs: Sequence[ProgramText]
    counted: str
    places: Sequence[Path]
    unread: bool = False


@dataclass(frozen=True, slots=True)
class CheckedPrograms:
    """What the compiler, and the language's own check, say of programs.

    ``problems`` are by the names of programs. ``passed`` is the number of those that pass the check, if any program is
    of a test that it looks at; ``counts`` is what the check counts.
    """

    total: int
    compiled: int
    problems: Sequence[tuple[str, str]]
    check: str = ""
    passed: int = 0
    counts: Mapping[str, int] = field(default_factory=dict)


LeftOutTest = Callable[[str, str], None]
"""Is told of a test that a language cannot say: its name, and why."""


def check_programs(programs: Sequence[ProgramText], backend: Backend) -> CheckedPrograms:
    """Compile programs, and return what is wrong with them."""
    with ThreadPoolExecutor(cores()) as pool:  # compilers do the work, in processes of their own
        try:
            checked = [pool.submit(_problems, program, backend) for program in programs]
            found = gathered(checked, "Compiling")
        finally:  # an interruption waits for the compilers that run, and starts no other
            pool.shutdown(wait=False, cancel_futures=True)
    problems = [(program.name, one) for program, (_, own, _) in zip(programs, found, strict=True) for one in own]
    compiled = sum(compiles for compiles, _, _ in found)
    if backend.check is None or not any(program.test for program in programs):
        return CheckedPrograms(len(programs), compiled, problems)
    passed = sum(not own for _, own, _ in found)
    counts = dict(sorted(sum((counts for _, _, counts in found), Counter[str]()).items()))
    return CheckedPrograms(len(programs), compiled, problems, backend.check.name, passed, counts)


def _problems(program: ProgramText, backend: Backend) -> tuple[bool, list[str], Counter[str]]:
    """Return whether a program compiles, the problems that the compiler or the language's check has with it, and what
    the check counts.
    """
    with private_folder("compile") as scratch:
        file, binary = program.file, Path(scratch, "program")
        if file is None:
            file = Path(scratch, f"program{backend.suffix}")
            file.write_text(program.text, encoding="utf-8")
        compilation = backend.compiler.compile(file, binary)
        if not compilation.ok:
            return False, [f"does not compile\n{compilation.output}"], Counter()
        if backend.check is None or program.test is None:
            return True, [], Counter()
        counts = Counter(backend.check.counts(program.test, binary))
        return True, backend.check.problems(program.test, binary), counts


# Bundles


def bundled_tests(
    tests: Collection[Item],
    ways: Sequence[Way],
    files: Callable[[Item, Way], Mapping[str, str]],
    entry: Callable[[Item, tuple[str | None, ...]], BundledTest],
    name: Callable[[Item], str],
) -> tuple[tuple[BundledTest, ...], list[tuple[str, str]]]:
    """Return the tests of a bundle, each once, and those that no way can launch, by name, with the reason of the first
    way.

    ``files`` gives the program of a test for a way, or raises ``InputError``; ``entry`` says what the bundle has of a
    test with these programs.
    """
    bundled: dict[tuple[str, str], BundledTest] = {}
    refused: list[tuple[str, str]] = []
    for test in watched(tests, len(tests), "Writing"):
        programs: list[str | None] = []
        reasons: list[str] = []
        for way in ways:
            try:
                programs.append(next(iter(files(test, way).values())))
            except InputError as error:
                programs.append(None)
                reasons.append(error.message)
        if any(programs):
            made = entry(test, tuple(programs))
            bundled.setdefault((made.name, made.digest), made)
        else:
            refused.append((name(test), reasons[0]))
    return tuple(bundled.values()), refused


def write_bundle(
    bundle: Bundle, backend: Backend, output: Path, left_out: LeftOutTest, unread: bool
) -> WrittenPrograms:
    """Write the files of a bundle into ``output``, and return its programs for the ways to launch that are chosen at
    first.

    Raises ``InputError`` where the folder cannot be written to.
    """
    assert backend.bundle is not None
    for name, reason in bundle.refused:
        left_out(name, reason)
    files = backend.bundle(bundle)
    write_files(output, files)
    of = f" of {len(bundle.tests) + len(bundle.refused)}" if bundle.refused else ""
    places = [output / name for name in files]
    return WrittenPrograms(_chosen_at_first(bundle), f"{len(bundle.tests)}{of} tests", places, unread)


def _chosen_at_first(bundle: Bundle) -> list[ProgramText]:
    """Return the programs of a bundle for the ways to launch that are chosen at first."""
    first = {choice.name: choice.chosen for choice in bundle.choices}
    ways = [n for n, way in enumerate(bundle.ways) if all(value in first[name] for name, value in way.choices)]
    return [
        ProgramText(printable(test.name), text)
        for test in bundle.tests
        for n in ways
        if (text := test.programs[n]) is not None
    ]
