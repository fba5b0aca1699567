"""The bundle of memory tests: launched in several ways, with the outcomes models allow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product

import click

from backends.shared.backend import Backend
from backends.shared.bundle import Bundle, BundledTest, Draws, ExpectedOutcomes, LaunchOption, LaunchWay
from backends.shared.layout import Parameters, device_layout, outcome_terms, place
from backends.shared.profiles import DEFAULT, STRESS, Profile
from corpus.errors import InputError
from corpus.litmus.normal import litmus_digest
from corpus.litmus.test import LitmusTest
from oracle.consistency import ConsistencyModel
from synth.inputs import MEMORY, Input, readable
from synth.memory.conformance import is_asked_for, promise_of
from synth.screen import watched

PLAIN = {"none": DEFAULT, "memory stress": STRESS}
"""The incantations that need no profile of a user's, by their names."""

INSTANCES = (Parameters().instances, 1 << 10, 1 << 16)
"""The numbers of instances of a launch to choose from, where no number is given."""


def memory_bundle(
    files: Sequence[Input],
    backend: Backend,
    incantations: Mapping[str, Profile],
    instances: int | None,
    models: Sequence[ConsistencyModel],
    iterations: int,
    draws: Draws | None = None,
) -> tuple[Bundle, bool]:
    """Return the bundle of tests, and whether all tests could be read; a line on stderr names each other test.

    Each test is launched as a GPU needs it and as a CPU does, in each of the ``incantations``, by name; a way in which
    a test cannot be launched has no program for it. With ``draws`` there is a template for further ways. Raises
    ``InputError`` where no test can be read, or the language can say none of them.
    """
    tests, unreadable = readable(files, Input.litmus)
    for error in unreadable:
        click.echo(f"synth: {error}", err=True)
    sizes = INSTANCES if instances is None else (instances,)
    launches = [
        (name, profile, size, cpu) for (name, profile), size, cpu in product(incantations.items(), sizes, (False, True))
    ]
    refused: list[tuple[str, str]] = []
    bundled: dict[tuple[str, str], BundledTest] = {}
    for file, test in watched(tests.items(), len(tests), "Writing"):
        key = (test.name, litmus_digest(test))
        if key in bundled:
            continue
        made = [_program(file, test, backend, profile, size, cpu) for _, profile, size, cpu in launches]
        programs, reasons = zip(*made, strict=True)
        if any(programs):
            text = file.text()
            template = None if draws is None else _template(file, test, backend)
            bundled[key] = BundledTest(*key, text, programs, expected_outcomes(test, models), template)
        else:
            refused.append((file.name, reasons[0]))
    if not bundled:
        raise InputError(f"{backend.name} can say none of the {len(tests)} tests: {refused[0][1]}")
    bundle = Bundle(
        family=MEMORY,
        models=tuple(model.name for model in models),
        choices=(
            LaunchOption("instances", tuple(f"{size:,}" for size in sizes), (f"{sizes[0]:,}",)),
            LaunchOption("incantations", tuple(incantations), tuple(incantations)[:1]),
        ),
        ways=tuple(
            LaunchWay(
                (("instances", f"{size:,}"), ("incantations", name)), "" if profile == STRESS else profile.label, cpu
            )
            for name, profile, size, cpu in launches
        ),
        tests=tuple(bundled.values()),
        iterations=iterations,
        refused=refused,
        draws=draws,
    )
    return bundle, not unreadable


def expected_outcomes(test: LitmusTest, models: Sequence[ConsistencyModel]) -> ExpectedOutcomes:
    """Return the outcomes of a test that some model allows, and which of them each model allows.

    A model that promises nothing of the test is silent, and its reason is given.
    """
    terms = outcome_terms(test)
    promises = {model.name: promise_of(test, model) for model in models}
    known = sorted(set[tuple[int, ...]]().union(*(each.allowed for each in promises.values() if each.allowed)))
    place = {values: number for number, values in enumerate(known)}
    return ExpectedOutcomes(
        outcomes=tuple(known),
        asked=tuple(number for values, number in place.items() if is_asked_for(test, terms, values)),
        allowed=tuple(
            (name, tuple(sorted(place[values] for values in each.allowed)))
            for name, each in promises.items()
            if each.allowed is not None and not each.reason
        ),
        silent=tuple((name, each.reason) for name, each in promises.items() if each.reason),
    )


def _program(
    file: Input, test: LitmusTest, backend: Backend, profile: Profile, instances: int, cpu: bool
) -> tuple[str | None, str]:
    """Return the program of a test on a device that is a CPU or none, or else why there is no program."""
    try:
        layout = device_layout(test, profile.instances or instances, profile, cpu)
        return next(iter(backend.memory_files(file.name, layout).values())), ""
    except InputError as error:
        return None, error.message


def _template(file: Input, test: LitmusTest, backend: Backend) -> str | None:
    """Return the program of a test whose launch is chosen later, for back ends that have such programs."""
    if backend.template is None:
        return None
    return next(iter(replace(backend, memory=backend.template).memory_files(file.name, place(test)).values()))
