"""The programs of progress tests for ``synth compile``: one a mapping, or a bundle of all.

The bundle has every mapping, placement and size, and the verdicts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import product
from pathlib import Path

from backends.shared.backend import Backend
from backends.shared.bundle import Bundle, BundledTest, ExpectedOutcomes, LaunchOption, LaunchWay
from backends.shared.files import distinct
from backends.shared.mapping import DEVICE, in_placement, placements_of
from corpus.errors import InputError
from corpus.progress.axb import Program
from corpus.progress.text import program_of
from corpus.runner_tests import of_progress
from corpus.test import Test
from oracle.progress.models import ProgressModel, verdicts
from synth.compilation import Making, ProgramFiles, WrittenPrograms, bundled_tests, write_programs
from synth.conformance import HANG
from synth.inputs import PROGRESS
from synth.progress.conformance import promises_of
from synth.watch import remark

INSTANCES = (16, 1024, None)
"""The numbers of instances to choose from, where no number is given; ``None``: as many as there is room for."""


def compile_progress(
    tests: Iterable[Test], backend: Backend, making: Making, output: Path, unread: bool
) -> WrittenPrograms:
    """Write a program into ``output`` for each test, mapping and placement; ``unread``: some files were no tests.

    Raises ``InputError`` where two tests share a file name, or where a size is too much for the language.
    """
    chosen = distinct(tests)
    written = write_programs(_programs(chosen, backend, making), backend, output, making.as_json)
    counted = f"{len(written)} {backend.name} programs of {len(chosen)} tests"
    return WrittenPrograms(written, counted, [output], unread)


def _programs(tests: Sequence[Test], backend: Backend, making: Making) -> Iterator[ProgramFiles]:
    for test, placement, mapping in launched(tests, making.placements, making.mappings):
        shape = backend.launch(program_of(test), mapping, making.instances, placement)
        yield ProgramFiles(backend.progress_files(test.name, shape, test.digest), shape, partial(of_progress, test))


def placement_of(program: Program) -> str:
    """Return the placement of a program's threads: its own, or the published one where it has none.

    Raises ``InputError`` where no launch has its threads in the groups that they say.
    """
    for name in placements_of(program, (DEVICE.name,)):
        return name
    raise InputError("no launch has its threads in the groups that they say")


def launched(
    tests: Iterable[Test], placements: Sequence[str], mappings: Sequence[str]
) -> Iterator[tuple[Test, str, str]]:
    """Yield each test with each placement and mapping that it is launched in: those that are asked for; a test that
    places its threads itself is launched in its own placement.

    A line on standard error says how many tests have none, for no launch has their threads in such groups.
    """
    none: list[str] = []
    for test in tests:
        fitting = placements_of(program_of(test), placements)
        none += [] if fitting else [test.name]
        yield from product([test], fitting, mappings)
    if none:
        reason = "no launch has their threads in the groups that they say"
        remark(f"{len(none)} tests are left out, as {none[0]}: {reason}")


def progress_bundle(tests: Iterable[Test], backend: Backend, making: Making, models: Sequence[ProgressModel]) -> Bundle:
    """Return the bundle of tests with the verdicts of ``models``.

    Where no model is named, the verdicts are the tests' own, or those of the built-in models. Raises ``InputError``
    where two different tests would have one file name, where the language has no words for a placement, or where none
    of the tests can be launched in any of the ways.
    """
    mappings, placements = making.mappings, making.placements
    if len(placements) > 1 and (leveled := [model.name for model in models if model.levels]):
        raise InputError(f"{leveled[0]} has a verdict for each placement, and a bundle one for each test: name one")
    sizes = INSTANCES if making.instances is None else (making.instances,)
    # The mapping plain has one instance, whatever number is asked for.
    launches = [
        (mapping, placement, size)
        for mapping in mappings
        for placement in placements
        for size in (sizes if mapping != "plain" else (1,))
    ]
    chosen = distinct(tests)
    named: dict[str, None] = {}

    def files(test: Test, way: tuple[str, str, int | None]) -> dict[str, str]:
        mapping, placement, size = way
        shape = backend.launch(program_of(test), mapping, size, placement)
        return backend.progress_files(test.name, shape, test.digest)

    def entry(test: Test, programs: tuple[str | None, ...]) -> BundledTest:
        nonlocal named
        program = in_placement(program_of(test), placements[0])
        verdicts_on = verdicts(program, models) if models or not test.verdicts else test.verdicts
        named |= dict.fromkeys(verdicts_on)
        terminating = tuple(
            model for model, promise in promises_of(verdicts_on).items() if promise.forbids(HANG, is_asked=True)
        )
        return BundledTest(test.name, test.digest, test.text, programs, ExpectedOutcomes(terminating))

    bundled, refused = bundled_tests(chosen, launches, files, entry, lambda test: test.name)
    if not bundled and refused:
        raise InputError(f"{backend.name} can launch none of the {len(chosen)} tests: {refused[0][1]}")
    return Bundle(
        family=PROGRESS,
        models=tuple(named),
        choices=(
            LaunchOption("mapping", mappings, mappings),
            LaunchOption("placement", placements, placements),
            LaunchOption("instances", tuple(map(_spelled, sizes)), (_spelled(sizes[0]),)),
        ),
        ways=tuple(_way(*launch) for launch in launches),
        tests=bundled,
        iterations=making.iterations,
        refused=refused,
    )


def _way(mapping: str, placement: str, instances: int | None) -> LaunchWay:
    sizes = () if mapping == "plain" else (("instances", _spelled(instances)),)
    return LaunchWay((("mapping", mapping), ("placement", placement), *sizes))


def _spelled(instances: int | None) -> str:
    return "as many as fit" if instances is None else f"{instances:,}"
