"""Defines a bundle, a suite in one piece. A back end takes it that makes one thing of all its tests and no file of
each.

A *way* is one way to launch a test: its mapping, placement and instances, or its profile and instances. Each test has a
program for each way of the bundle, which says itself which trial it is (``backends.shared.log``), and what models say
of it, for whoever sets results against them without being able to judge.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

Values = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class LaunchOption:
    """An option of a launch, such as the mapping: its possible values, in words, and those that are chosen at first."""

    name: str
    values: tuple[str, ...]
    chosen: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LaunchWay:
    """One way to launch the tests of a bundle.

    ``choices`` has a value for each choice that it is subject to. ``profile`` is what results call it, as in
    ``backends.shared.results``. ``cpu``: for devices that are CPUs, or for those that are none; ``None`` where that
    makes no difference.
    """

    choices: tuple[tuple[str, str], ...]
    profile: str = ""
    cpu: bool | None = None


@dataclass(frozen=True, slots=True)
class ExpectedOutcomes:
    """The outcomes of a test that models expect.

    Of a progress test: ``terminating`` are the models under which it terminates. Of a memory test: ``outcomes`` that
    some model allows, in an order; ``targets``, those of them that its condition asks for; and ``allowed`` by each
    model that forbids every other outcome, both as positions in ``outcomes``. ``silent`` are the models that forbid
    nothing, each with the reason: a data race, say.
    """

    terminating: tuple[str, ...] = ()
    outcomes: tuple[Values, ...] = ()
    targets: tuple[int, ...] = ()
    allowed: tuple[tuple[str, tuple[int, ...]], ...] = ()
    silent: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Draws:
    """Random profiles of a bundle; whoever runs it says how many there are, and what they are drawn from.

    Proposed are ``count`` of them, in each of which ``share`` of the parameters are drawn, each from its ``values``
    (none: it is not drawn).
    """

    count: int
    share: float
    values: Mapping[str, Sequence[int | bool | str]]


@dataclass(frozen=True, slots=True)
class BundledTest:
    """A test of a bundle: its name and digest as results have them, its text for people, a program for each way
    (``None`` where it cannot be launched so), and a program whose launch is chosen later, where there may be such.
    """

    name: str
    digest: str
    text: str
    programs: tuple[str | None, ...]
    expected: ExpectedOutcomes = field(default_factory=ExpectedOutcomes)
    template: str | None = None


@dataclass(frozen=True, slots=True)
class Bundle:
    """A bundle of tests of one family with all the ways to launch them, what may be chosen of these, and the models
    that results are set against.

    ``iterations`` is how often each is run where nobody says otherwise. ``refused`` are tests that the language cannot
    say, by name, and why. ``draws`` are further ways to launch memory tests.
    """

    family: str
    models: tuple[str, ...]
    choices: tuple[LaunchOption, ...]
    ways: tuple[LaunchWay, ...]
    tests: tuple[BundledTest, ...]
    iterations: int = 20
    refused: Sequence[tuple[str, str]] = ()
    draws: Draws | None = None
