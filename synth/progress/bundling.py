"""The bundle of progress tests: every mapping, placement and size, with the verdicts."""

from __future__ import annotations

from collections.abc import Sequence

from backends.shared.backend import Backend
from backends.shared.bundle import Bundle, BundledTest, ExpectedOutcomes, LaunchOption, LaunchWay
from backends.shared.files import distinct
from corpus.errors import InputError
from corpus.progress.text import program_of
from corpus.test import Test
from oracle.progress.models import ProgressModel, verdicts
from synth.conformance import HANG
from synth.inputs import PROGRESS
from synth.progress.conformance import promises_of
from synth.screen import watched

INSTANCES = (16, 1024, None)
"""The numbers of instances to choose from, where no number is given; ``None``: as many as there is room for."""


def progress_bundle(
    tests: Sequence[Test],
    backend: Backend,
    mappings: Sequence[str],
    placements: Sequence[str],
    instances: int | None,
    models: Sequence[ProgressModel],
    iterations: int,
) -> Bundle:
    """Return the bundle of tests with the verdicts of ``models``.

    Where no model is named, the verdicts are the tests' own, or those of the built-in models. Raises ``InputError``
    where two different tests would have one file name, where the language has no words for a placement, or where none
    of the tests can be launched in any of the ways.
    """
    sizes = INSTANCES if instances is None else (instances,)
    # The mapping plain has one instance, whatever number is asked for.
    launches = [
        (mapping, placement, size)
        for mapping in mappings
        for placement in placements
        for size in (sizes if mapping != "plain" else (1,))
    ]
    chosen = distinct(tests)
    refused: list[tuple[str, str]] = []
    bundled = []
    named: dict[str, None] = {}
    for test in watched(chosen, len(chosen), "Writing"):
        programs, reasons = zip(*(_program(test, backend, *each) for each in launches), strict=True)
        if not any(programs):
            refused.append((test.name, reasons[0]))
            continue
        said = verdicts(program_of(test), models) if models or not test.verdicts else test.verdicts
        named |= dict.fromkeys(said)
        terminating = tuple(model for model, each in promises_of(said).items() if each.forbids(HANG, asked=True))
        bundled.append(BundledTest(test.name, test.digest, test.text, programs, ExpectedOutcomes(terminating)))
    if not bundled and refused:
        raise InputError(f"{backend.name} can launch none of the {len(chosen)} tests: {refused[0][1]}")
    return Bundle(
        family=PROGRESS,
        models=tuple(named),
        choices=(
            LaunchOption("mapping", tuple(mappings), tuple(mappings)),
            LaunchOption("placement", tuple(placements), tuple(placements)),
            LaunchOption("instances", tuple(map(_spelled, sizes)), (_spelled(sizes[0]),)),
        ),
        ways=tuple(_way(*each) for each in launches),
        tests=tuple(bundled),
        iterations=iterations,
        refused=refused,
    )


def _program(
    test: Test, backend: Backend, mapping: str, placement: str, instances: int | None
) -> tuple[str | None, str]:
    """Return the program of a test, or why there is none."""
    try:
        shape = backend.launch(program_of(test), mapping, instances, placement)
        return next(iter(backend.progress_files(test.name, shape, test.digest).values())), ""
    except InputError as error:
        return None, error.message


def _way(mapping: str, placement: str, instances: int | None) -> LaunchWay:
    sizes = () if mapping == "plain" else (("instances", _spelled(instances)),)
    return LaunchWay((("mapping", mapping), ("placement", placement), *sizes))


def _spelled(instances: int | None) -> str:
    return "as many as fit" if instances is None else f"{instances:,}"
