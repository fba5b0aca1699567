"""The two families of tests behind one interface: all that commands know of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from rich.table import Table

from corpus.suite import Corpus
from corpus.test import Test
from synth.inputs import MEMORY, PROGRESS, Input, family_of


class Side(NamedTuple):
    """One of the two verdicts of a family: its word, and how tests are spoken of that have it under some models."""

    verdict: str
    heading: str
    key: str


@dataclass(frozen=True, slots=True)
class Told:
    """Why one model says what it says of a test, in each of the forms that may be asked for."""

    model: str
    text: Callable[[], str]
    record: Callable[[], dict[str, Any]]
    svg: Callable[[], str]
    dot: Callable[[], str]


class Family(Protocol):
    """A family of tests.

    ``kind`` is what its tests are called, ``sides`` its verdicts, the stricter one first, ``targets`` the forms that
    its tests can be exported in.
    """

    kind: str
    sides: tuple[Side, Side]
    targets: tuple[str, ...]

    def record(self, given: Input) -> Test:
        """The test as one of a corpus. Raises ``InputError`` where it is none."""

    def tables(self, corpus: Corpus, list_tests: bool) -> Iterator[tuple[str, Table]]:
        """What is in a corpus, as titles and tables."""

    def summary(self, corpus: Corpus, list_tests: bool) -> dict[str, Any]:
        """The same as data."""

    def distribution_svg(self, corpus: Corpus) -> str:
        """How the tests spread over the models, drawn."""

    def explain(self, given: Input, models: Sequence[str], unroll: int) -> list[Told]:
        """Why each model says what it says. Raises ``InputError`` where a model is unknown or the test is none."""

    def export(self, tests: Sequence[Input], target: str, dropped: Sequence[str], folder: Path) -> int:
        """Write tests in one of these forms into a new folder, and give the exit code."""


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
