"""The interface of a family of tests: all that the commands know of a family."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from synth.accounts import Account
from synth.folders import WrittenTests
from synth.inputs import MEMORY, PROGRESS, Input, expand, family_of
from synth.labels import Labelling
from synth.requests import SelectionFilter

if TYPE_CHECKING:  # slow to import, and not every command needs it
    from backends.shared.backend import Backend
    from corpus.suite import Corpus
    from corpus.test import Test
    from synth.compilation import LeftOutTest, Making, WrittenPrograms
    from synth.drawing.pictures import Drawing
    from synth.runs import Running, RunReport


class VerdictWords(NamedTuple):
    """One of the two verdicts of a family: its word, and the heading and key of tests that some models give it."""

    verdict: str
    heading: str
    key: str


@dataclass(frozen=True, slots=True)
class ModelAccount:
    """The verdict of one model on a test with its reasons, in each of the forms that a command may print."""

    model: str
    account: Callable[[], Account]
    record: Callable[[], dict[str, Any]]
    drawing: Callable[[], Drawing]
    dot: Callable[[], str]


class CorpusCounts(Protocol):
    """The interface of the counts of a corpus, which ``synth show`` prints (``synth.screen.counts``).

    The list of tests has columns with these ``heads``, and is called ``listed``.
    """

    heads: tuple[str, ...]
    listed: str

    def summary(self) -> dict[str, Any]:
        """Return the counts as plain data."""

    def lines(self) -> Iterator[tuple[dict[str, Any], tuple[str, ...]]]:
        """Yield what the list says of each test, as plain data and as the cells of its columns."""


class Family(Protocol):
    """The interface of a family of tests.

    ``kind`` is the name of the family, ``sides`` are its two verdicts, the stricter one first, ``targets`` the formats
    in which its tests can be exported, and ``foreign`` the parameters of ``compile`` and ``run`` that only the other
    family has.
    """

    kind: str
    sides: tuple[VerdictWords, VerdictWords]
    foreign: tuple[str, ...]

    @property
    def targets(self) -> tuple[str, ...]:
        """Return the names of the formats in which the tests of this family can be exported."""

    def record(self, given: Input) -> Test:
        """Return an input of the command line as a test of a corpus. Raises ``InputError`` where it is no test."""

    def checked(self, tests: Sequence[Input]) -> list[Input]:
        """Return the tests, read already where reading is cheap and a wrong test has to end the command.

        Raises ``InputError`` where such a test is wrong.
        """

    def counted(self, corpus: Corpus) -> CorpusCounts:
        """Return the counts of the tests of a corpus."""

    def distribution_svg(self, corpus: Corpus) -> str:
        """Draw how the tests of a corpus spread over the models, as SVG."""

    def explain(self, given: Input, models: Sequence[str], unroll: int) -> list[ModelAccount]:
        """Explain the verdict of each model. Raises ``InputError`` where a model is unknown or the input is no test."""

    def labelling(
        self, models: Sequence[str], method: str, unroll: int, form: str, bell: str | None = None
    ) -> Labelling:
        """Return how tests of this family are labelled by these models, for a form of output.

        ``bell`` is a bell file that is read before the models. Raises ``InputError`` where a model is unknown.
        """

    def compile(
        self, tests: Sequence[Input], language: Backend, making: Making, output: Path, left_out: LeftOutTest
    ) -> WrittenPrograms:
        """Write tests as programs; ``left_out`` is told of each that the language cannot say."""

    def run(self, tests: Sequence[Input], language: Backend, running: Running) -> RunReport[Any]:
        """Run tests on a device, or read what a test wrote elsewhere, and return what was seen."""

    def export(
        self, tests: Sequence[Input], target: str, dropped: Sequence[str], models: Sequence[str], folder: Path
    ) -> WrittenTests:
        """Write tests in a format into a new folder.

        ``models`` are written beside the tests, for the tools that judge them.
        """


_FAMILIES = {PROGRESS: "synth.families.progress", MEMORY: "synth.families.memory"}


def family(name: str) -> Family:
    """Return the family of tests that has this name, ``progress`` or ``memory``."""
    found: Family = import_module(_FAMILIES[name]).FAMILY
    return found


def families() -> dict[str, Family]:
    """Return both families of tests by their names."""
    return {name: family(name) for name in _FAMILIES}


def family_given(paths: Sequence[str]) -> Family:
    """Return the family of the tests that paths name. Raises ``InputError`` where they name tests of both."""
    return family(family_of(paths))


def chosen(kind: Family, paths: Sequence[str], choice: SelectionFilter) -> list[Input]:
    """Return those tests of the paths that ``--where`` and ``--test`` select.

    Raises ``InputError`` where ``SelectionFilter.of`` does.
    """
    return choice.of(expand(paths), lambda given: given.name, kind.record)
