"""``synth label``: what models say of tests of either family, as it is found out, as table, CSV or JSON.

A family says in a ``Labelling`` how its tests are asked about and what it has to say besides the verdict. What is asked
at once is what the limits hold for; where it exceeds them, its verdicts are UNKNOWN, and the others stand.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Protocol

import click

from corpus.comma_separated import csv_lines
from corpus.errors import printable
from synth.inputs import Input
from synth.pool import Jobs, map_each
from synth.worker import Limits

if TYPE_CHECKING:  # a command of progress tests loads nothing of memory tests
    from rich.table import Table
    from rich.text import Text

    from oracle.executions.judge import Judgement

ERROR = "ERROR"
"""The verdict on a file that is no test."""

UNKNOWN = "UNKNOWN"
"""The verdict where a model has none."""


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """What a model says of a test: a word, why it is UNKNOWN, and of a litmus test all that was found.

    ``provisional``: what it says holds only as far as loops were followed.
    """

    verdict: str
    reason: str = ""
    judgement: Judgement | None = None
    provisional: bool = False


@dataclass(frozen=True, slots=True)
class Labels:
    """What the models say of a test, in their order; or why nothing can be said of it.

    ``file`` is what the user knows the test by. ``facts``: what JSON says of the test itself, such as its digest.
    """

    file: str
    labels: tuple[ModelAnswer, ...] = ()
    facts: Mapping[str, object] = field(default_factory=dict)
    error: str = ""


@dataclass(frozen=True, slots=True)
class LabelTask:
    """A test, and the numbers of the models that are asked about it at once."""

    test: Input
    models: tuple[int, ...]


class Labelling(Protocol):
    """How a family labels."""

    @property
    def names(self) -> Sequence[str]:
        """The models."""

    def request(self) -> dict[str, object]:
        """What must be the same where a file of labels goes on: the models, with the digest of each, and the method."""

    @property
    def parts(self) -> Sequence[tuple[int, ...]]:
        """The numbers of the models, in their order, those together that are asked at once, for they share the work."""

    @property
    def columns(self) -> Sequence[str]:
        """What CSV has after file and model."""

    def label(self, asked: LabelTask) -> Labels:
        """The labels of the models that are asked; what a process does."""

    def label_together(self, asked: Sequence[LabelTask]) -> Sequence[Labels | None]:
        """The same of many at once, where that is quicker; None of those that ``label`` is to be asked about."""

    def facts(self, test: Input) -> Mapping[str, object]:
        """What is known of a test that was lost."""

    def cells(self, label: ModelAnswer) -> Sequence[str]:
        """What CSV says in these columns."""

    def record(self, label: ModelAnswer) -> object:
        """What JSON has of a model."""

    def table(self, labelled: Sequence[Labels]) -> tuple[Table, Sequence[str]]:
        """The table, and the lines below it."""


def label_tests(
    labelling: Labelling, tests: Sequence[Input], jobs: Jobs, limits: Limits
) -> Generator[Labels | None, None, None]:
    """The labels of every test, in order; None while they are waited for."""
    parts = labelling.parts
    here = isinstance(jobs, int)
    asked = [LabelTask(test if here else test.to_carry(), part) for test in tests for part in parts]

    def lost(one: LabelTask, reason: str) -> Labels:
        return Labels(one.test.label, (ModelAnswer(UNKNOWN, reason),) * len(one.models), labelling.facts(one.test))

    found: list[Labels] = []
    answers = map_each(labelling.label, asked, jobs, limits, lost, together=labelling.label_together)
    with closing(answers):
        for answer in answers:
            if answer is None:
                yield None
                continue
            found.append(answer)
            if len(found) == len(parts):
                yield _joined(found)
                found = []


def _joined(parts: Sequence[Labels]) -> Labels:
    """One test's labels, of models that were asked apart."""
    for part in parts:
        if part.error:
            return part
    facts = max((part.facts for part in parts), key=len)
    return Labels(parts[0].file, tuple(label for part in parts for label in part.labels), facts)


# What is said on standard error, and by the exit code


class LabelTally:
    """Tests that are none, and models without a verdict."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = names
        self.errors: list[str] = []
        self.good = 0
        self.unknown: list[list[tuple[str, str]]] = [[] for _ in names]

    def add(self, labels: Labels) -> None:
        """Count one more test."""
        if labels.error:
            self.errors.append(labels.error)
            return
        self.good += 1
        for unknown, label in zip(self.unknown, labels.labels, strict=True):
            if label.verdict == UNKNOWN:
                unknown.append((labels.file, label.reason))

    def tell(self) -> int:
        """2 where a file is no test, or a model can say nothing of any test; else 0. Tells of both."""
        for error in self.errors:
            click.echo(printable(f"synth: {error}"), err=True)
        code = 2 if self.errors else 0
        for name, unknown in zip(self.names, self.unknown, strict=True):
            if unknown:
                file, reason = unknown[0]
                more = f" (and {len(unknown) - 1} more)" if len(unknown) > 1 else ""
                why = f": {reason}" if reason else ""
                click.echo(printable(f"synth: {name} has no verdict on {file}{more}{why}"), err=True)
                code = 2 if len(unknown) == self.good else code
        return code


# Forms

CSV, JSON = "csv", "json"


def print_table(labelling: Labelling, labelled: Iterable[Labels]) -> None:
    """The table, when all is known, for its columns are as wide as they must be; where that is interrupted, a part."""
    known: list[Labels] = []
    interrupted = None
    try:
        for labels in labelled:
            known.append(labels)
    except KeyboardInterrupt as error:
        if not known:
            raise
        interrupted = error
    table, lines = labelling.table(known)
    # Wide enough for the longest row where nobody watches.
    from synth.screen import print_table as print_on
    from synth.screen import screen

    console = screen(120 + max((len(labels.file) for labels in known), default=0) + 12 * len(labelling.names))
    print_on(console, table)
    for line in lines:
        console.print(line, markup=False)
    if interrupted:
        raise interrupted


def mark_table(heads: Sequence[str], labelled: Iterable[Labels], mark: Callable[[ModelAnswer], Text]) -> Table:
    """One line a test, one mark a model."""
    from rich.text import Text

    from synth.screen import plain_table

    table = plain_table("test")
    for head in heads:
        table.add_column(head, justify="center", no_wrap=True)
    for labels in labelled:
        marks = [Text(ERROR, "red")] * len(heads) if labels.error else [mark(label) for label in labels.labels]
        table.add_row(Text(labels.file), *marks)
    return table


def print_lines(labelling: Labelling, labelled: Iterable[Labels], form: str, out: IO[str] | None = None) -> None:
    """Labels as CSV or JSON, each test's lines as soon as it is labelled, to standard output or a file."""
    for labels in labelled:
        lines = _csv(_rows(labelling, labels)) if form == CSV else f"{json.dumps(_record(labelling, labels))}\n"
        click.echo(lines, out, nl=False)


def header_of(labelling: Labelling, form: str) -> str:
    """The line before the first test's."""
    return _csv([["file", "model", *labelling.columns]]) if form == CSV else ""


def _csv(rows: Iterable[Sequence[str]]) -> str:
    return "".join(csv_lines(rows))


def _rows(labelling: Labelling, labels: Labels) -> Iterator[Sequence[str]]:
    said = [ModelAnswer(ERROR)] * len(labelling.names) if labels.error else labels.labels
    for name, label in zip(labelling.names, said, strict=True):
        yield labels.file, name, *labelling.cells(label)


def _record(labelling: Labelling, labels: Labels) -> Mapping[str, object]:
    if labels.error:
        return {"file": labels.file, "error": labels.error}
    verdicts = {name: labelling.record(label) for name, label in zip(labelling.names, labels.labels, strict=True)}
    return {"file": labels.file, **labels.facts, "verdicts": verdicts}
