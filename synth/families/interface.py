"""The two families of tests behind one interface: all that commands know of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import click
from click.core import ParameterSource

from corpus.errors import InputError
from synth.accounts import Account
from synth.inputs import MEMORY, PROGRESS, Input, expand, family_of
from synth.labels import Labelling
from synth.options.tests import SelectionFilter

if TYPE_CHECKING:  # what a command may not need takes its time to be loaded
    from rich.table import Table

    from backends.shared.backend import Backend
    from backends.shared.device import Device, DeviceOptions
    from backends.shared.profiles import Profile
    from corpus.suite import Corpus
    from corpus.test import Test
    from synth.campaigns import Campaign
    from synth.drawing.pictures import Drawing
    from synth.known import KnownFailures
    from synth.screen import Listing


class VerdictWords(NamedTuple):
    """One of the two verdicts of a family: its word, and how tests are spoken of that have it under some models."""

    verdict: str
    heading: str
    key: str


@dataclass(frozen=True, slots=True)
class Told:
    """Why one model says what it says of a test, in each of the forms that may be asked for."""

    model: str
    account: Callable[[], Account]
    record: Callable[[], dict[str, Any]]
    drawing: Callable[[], Drawing]
    dot: Callable[[], str]


@dataclass(frozen=True, slots=True)
class Making:
    """How programs are made: under which mappings and placements (progress tests), of how many instances, for how many
    launches; launched as which profile, of back ends that take all tests together as which of several, and as how many
    random ones, unless told otherwise there (memory tests); and for the latter, set against which models. ``as_json``:
    with an object for runners beside each program.
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


def _alone() -> Campaign:
    from synth.campaigns import ALONE

    return ALONE


@dataclass(frozen=True, slots=True)
class Running:
    """How tests are run, what they are compared with, and where results go; seconds for each iteration, ``None`` where
    they are measured.

    ``junit`` is the file of a report in JUnit's form. ``decode`` names what running one test elsewhere wrote, where
    nothing is to be run. ``mutants``: those of the tests, too; ``plan`` is a file of ``synth select --score``.
    ``known`` failures do not fail a run.
    """

    device: DeviceOptions
    mappings: tuple[str, ...]
    placements: tuple[str, ...]
    iterations: int
    timeout: float | None
    every_iteration: bool
    profile: Profile
    models: tuple[str, ...]
    sound: tuple[str, ...]
    decode: Path | None
    output: Path | None
    as_json: bool
    campaign: Campaign = field(default_factory=_alone)
    junit: Path | None = None
    mutants: bool = False
    plan: Path | None = None
    known: KnownFailures | None = None


def device_of(language: Backend, running: Running) -> Device:
    """The device to run on. Raises ``InputError`` where the language has none here."""
    if language.device is None:
        raise InputError(f"{language.name} tests are run elsewhere; --decode FILE reads what one of them wrote")
    return language.device(running.device)


class Family(Protocol):
    """A family of tests.

    ``kind`` is what its tests are called, ``sides`` its verdicts, the stricter one first, ``targets`` the forms that
    its tests can be exported in, ``foreign`` the parameters of ``compile`` and ``run`` that are for the other family.
    """

    kind: str
    sides: tuple[VerdictWords, VerdictWords]
    foreign: tuple[str, ...]

    @property
    def targets(self) -> tuple[str, ...]:
        """See above."""

    def record(self, given: Input) -> Test:
        """The test as one of a corpus. Raises ``InputError`` where it is none."""

    def checked(self, tests: Sequence[Input]) -> list[Input]:
        """The tests, read already where that is cheap and one that is wrong is to end the command.

        Raises ``InputError`` then.
        """

    def tables(self, corpus: Corpus, list_tests: bool) -> Iterator[tuple[str, Table | Listing]]:
        """What is in a corpus, as titles and tables."""

    def summary(self, corpus: Corpus, list_tests: bool) -> dict[str, Any]:
        """The same as data."""

    def distribution_svg(self, corpus: Corpus) -> str:
        """How the tests spread over the models, drawn."""

    def explain(self, given: Input, models: Sequence[str], unroll: int) -> list[Told]:
        """Why each model says what it says. Raises ``InputError`` where a model is unknown or the test is none."""

    def labelling(
        self, models: Sequence[str], method: str, unroll: int, form: str, bell: str | None = None
    ) -> Labelling:
        """How its tests are labelled, for a form of output; by models that a bell file comes before.

        Raises ``InputError`` where a model is unknown.
        """

    def compile(self, tests: Sequence[Input], language: Backend, making: Making, output: Path, check: bool) -> int:
        """Write tests as programs, compile them where that is asked for, and give the exit code."""

    def run(self, tests: Sequence[Input], language: Backend, running: Running) -> int:
        """Run tests on a device, or read what one of them wrote elsewhere; tell of it, and give the exit code."""

    def export(
        self, tests: Sequence[Input], target: str, dropped: Sequence[str], models: Sequence[str], folder: Path
    ) -> int:
        """Write tests in one of these forms into a new folder, with models for who judges them; give the exit code."""


_FAMILIES = {PROGRESS: "synth.families.progress", MEMORY: "synth.families.memory"}


def family(name: str) -> Family:
    """The family of that name."""
    found: Family = import_module(_FAMILIES[name]).FAMILY
    return found


def families() -> dict[str, Family]:
    """All of them by name."""
    return {name: family(name) for name in _FAMILIES}


def family_given(paths: Sequence[str]) -> Family:
    """The family of the tests that paths name. Raises ``InputError`` where they name tests of both."""
    return family(family_of(paths))


def chosen(kind: Family, paths: Sequence[str], choice: SelectionFilter) -> list[Input]:
    """The tests of the paths that ``--where`` and ``--test`` mean.

    Raises ``InputError`` as ``SelectionFilter.of`` does.
    """
    return choice.of(expand(paths), lambda given: given.name, kind.record)


def refuse_foreign(context: click.Context, kind: Family) -> None:
    """Raises ``InputError`` where an option was given that the family at hand does not have."""
    for parameter in context.command.params:
        given = context.get_parameter_source(parameter.name or "") is ParameterSource.COMMANDLINE
        if given and parameter.name in kind.foreign:
            others = " and ".join(each.kind for each in families().values() if each is not kind)
            raise InputError(f"{parameter.opts[0]} is for {others}")
