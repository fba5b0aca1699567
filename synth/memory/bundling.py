"""Memory tests in one piece: each launched in several ways, with the outcomes that models allow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import click

from backends.shared.backend import Backend
from backends.shared.bundle import Bundle, BundledTest, Choice, Expected, Way
from backends.shared.layout import Parameters, device_layout, outcome_terms
from backends.shared.profiles import DEFAULT, STRESS, Profile
from corpus.errors import InputError
from corpus.litmus.normal import litmus_digest
from corpus.litmus.test import LitmusTest
from oracle.consistency import ConsistencyModel
from synth.inputs import MEMORY, Input, readable
from synth.memory.conformance import allowed_outcomes, is_asked_for
from synth.screen import watched


@dataclass(frozen=True, slots=True)
class Incantation:
    """A way to provoke weak outcomes that may be chosen: what it is called, and its profiles for GPUs and CPUs."""

    name: str
    gpu: Profile
    cpu: Profile


def incantation(profile: Profile, name: str = "") -> Incantation:
    """One profile for both, called as results call it where no name is given."""
    return Incantation(name or profile.label, profile, profile)


PLAIN = (incantation(DEFAULT, "none"), incantation(STRESS, "memory stress"))
"""The incantations that need no profile."""

INSTANCES = (Parameters().instances, 1 << 10, 1 << 16)
"""How many instances of a launch there are to choose from, where no number is given."""


def memory_bundle(
    files: Sequence[Input],
    backend: Backend,
    incantations: Sequence[Incantation],
    instances: int | None,
    models: Sequence[ConsistencyModel],
    iterations: int,
) -> tuple[Bundle, bool]:
    """The bundle of tests, and whether all could be read; a line on stderr for each other.

    Each is launched as a GPU needs it and as a CPU does, in each of the ``incantations``, which have different names;
    what cannot be launched so has no program for it. Raises ``InputError`` where none can be read, or the language can
    say none of them.
    """
    tests, unreadable = readable(files, Input.litmus)
    for error in unreadable:
        click.echo(f"synth: {error}", err=True)
    sizes = INSTANCES if instances is None else (instances,)
    launches = [
        (each.name, each.cpu if cpu else each.gpu, size, cpu)
        for each, size, cpu in product(incantations, sizes, (False, True))
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
            bundled[key] = BundledTest(*key, text, programs, expected_outcomes(test, models))
        else:
            refused.append((file.name, reasons[0]))
    if not bundled:
        raise InputError(f"{backend.name} can say none of the {len(tests)} tests: {refused[0][1]}")
    bundle = Bundle(
        family=MEMORY,
        models=tuple(model.name for model in models),
        choices=(
            Choice("instances", tuple(f"{size:,}" for size in sizes), (f"{sizes[0]:,}",)),
            Choice("incantations", tuple(each.name for each in incantations), (incantations[0].name,)),
        ),
        ways=tuple(
            Way((("instances", f"{size:,}"), ("incantations", name)), "" if profile == STRESS else profile.label, cpu)
            for name, profile, size, cpu in launches
        ),
        tests=tuple(bundled.values()),
        iterations=iterations,
        refused=refused,
    )
    return bundle, not unreadable


def expected_outcomes(test: LitmusTest, models: Sequence[ConsistencyModel]) -> Expected:
    """The outcomes that some model allows, and which of them each allows that can tell for certain."""
    terms = outcome_terms(test)
    judged = {model.name: allowed_outcomes(test, terms, model) for model in models}
    certain = {name: each.outcomes for name, each in judged.items() if each.outcomes is not None and not each.bounded}
    known = sorted(set[tuple[int, ...]]().union(*(each.outcomes for each in judged.values() if each.outcomes)))
    place = {values: number for number, values in enumerate(known)}
    return Expected(
        outcomes=tuple(known),
        asked=tuple(number for values, number in place.items() if is_asked_for(test, terms, values)),
        allowed=tuple((name, tuple(sorted(place[each] for each in allowed))) for name, allowed in certain.items()),
    )


def _program(
    file: Input, test: LitmusTest, backend: Backend, profile: Profile, instances: int, cpu: bool
) -> tuple[str | None, str]:
    """The program of a test on a device that is a CPU, or none; or why there is none."""
    try:
        layout = device_layout(test, profile.instances or instances, profile, cpu)
        return next(iter(backend.memory_files(file.name, layout).values())), ""
    except InputError as error:
        return None, error.message
