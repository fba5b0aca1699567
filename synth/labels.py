"""The labelling of tests by models, and the lines of CSV or JSON that ``synth label`` prints of it.

A family defines in a ``Labelling`` how its tests are asked about and what is printed besides the verdict. The limits
hold for each group of models that is asked at once; where a group exceeds them, its verdicts are UNKNOWN, and the
others stand.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from corpus.comma_separated import cells, csv_lines
from corpus.errors import printable, visible
from synth.growing_file import WholeLines, begun
from synth.inputs import Input
from synth.pool import Jobs, map_each
from synth.watch import remark
from synth.worker import Limits

if TYPE_CHECKING:  # a command on progress tests imports nothing of memory tests
    from oracle.executions.judge import Judgement

ERROR = "ERROR"
"""The verdict on a file that is no test."""

UNKNOWN = "UNKNOWN"
"""The verdict of a model that cannot tell."""


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """The answer of a model on a test: its verdict, why that is UNKNOWN, and for a litmus test the whole judgement.

    ``provisional``: the verdict holds only as far as loops were followed.
    """

    verdict: str
    reason: str = ""
    judgement: Judgement | None = None
    provisional: bool = False


@dataclass(frozen=True, slots=True)
class Labels:
    """The labels of a test: the models' answers in the models' order, or why the test has none.

    ``file`` is the user's name of the test. ``facts`` are the properties of the test itself in JSON, such as its
    digest.
    """

    file: str
    labels: tuple[ModelAnswer, ...] = ()
    facts: Mapping[str, object] = field(default_factory=dict)
    error: str = ""


@dataclass(frozen=True, slots=True)
class LabelTask:
    """A task of a labelling process: a test, and the numbers of the models that are asked about it at once."""

    test: Input
    models: tuple[int, ...]


class Labelling(Protocol):
    """The interface by which a family labels its tests: models, columns of output, and the labels themselves."""

    @property
    def names(self) -> Sequence[str]:
        """Return the names of the models, in the order in which their verdicts are printed."""

    def request(self) -> dict[str, object]:
        """Return what a resumed file of labels must keep: the models, with the digest of each, and the method."""

    @property
    def parts(self) -> Sequence[tuple[int, ...]]:
        """Return the groups of models, by number and in order, that are asked at once since they share the work."""

    @property
    def columns(self) -> Sequence[str]:
        """Return the heads of the CSV columns that follow the file and the model."""

    def label(self, task: LabelTask) -> Labels:
        """Return the labels of the models of a task; a worker process calls it."""

    @property
    def label_together(self) -> Callable[[Sequence[LabelTask]], Sequence[Labels | None]] | None:
        """The function that labels many tasks at once, for families where that is quicker.

        It returns None for each task that ``label`` is to be asked about.
        """

    def facts(self, test: Input) -> Mapping[str, object]:
        """Return what is known of a test whose process was lost."""

    def cells(self, label: ModelAnswer) -> Sequence[str]:
        """Return the cells of a label in the CSV columns of ``columns``."""

    def record(self, label: ModelAnswer) -> object:
        """Return the label of one model as plain data for JSON."""

    @property
    def heads(self) -> Sequence[str]:
        """Return the heads of the columns of a table, in which each model has one."""

    @property
    def details(self) -> Sequence[str]:
        """Return the heads of the columns of a table that tells all of one model; none where a mark tells all."""

    def detail_cells(self, label: ModelAnswer) -> Sequence[str]:
        """Return the cells of a label in the columns of ``details``, its verdict first."""

    def legend(self, labelled: Sequence[Labels]) -> Sequence[str]:
        """Return the lines below a table of labelled tests."""


def label_tests(
    labelling: Labelling, tests: Sequence[Input], jobs: Jobs, limits: Limits
) -> Generator[Labels | None, None, None]:
    """Yield the labels of every test, in order; None while they are waited for."""
    parts = labelling.parts
    here = isinstance(jobs, int)
    label_tasks = [LabelTask(test if here else test.to_carry(), part) for test in tests for part in parts]

    def lost(one: LabelTask, reason: str) -> Labels:
        return Labels(one.test.label, (ModelAnswer(UNKNOWN, reason),) * len(one.models), labelling.facts(one.test))

    found: list[Labels] = []
    answers = map_each(labelling.label, label_tasks, jobs, limits, lost, together=labelling.label_together)
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
    """Join the labels of one test by models that were asked apart."""
    for part in parts:
        if part.error:
            return part
    facts = max((part.facts for part in parts), key=len)
    return Labels(parts[0].file, tuple(label for part in parts for label in part.labels), facts)


# Messages on standard error, and the exit code


class LabelTally:
    """A count of files that are no tests, and of models without a verdict."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = names
        self.errors: list[str] = []
        self.good = 0
        self.unknown: list[list[tuple[str, str]]] = [[] for _ in names]

    def add(self, labels: Labels) -> None:
        """Count the labels of one more test, its error or its models without a verdict."""
        if labels.error:
            self.errors.append(labels.error)
            return
        self.good += 1
        for unknown, label in zip(self.unknown, labels.labels, strict=True):
            if label.verdict == UNKNOWN:
                unknown.append((labels.file, label.reason))

    def tell(self) -> int:
        """Print what was counted; return 2 where a file is no test or a model has no verdict on any test, else 0."""
        for error in self.errors:
            remark(str(error))
        code = 2 if self.errors else 0
        for name, unknown in zip(self.names, self.unknown, strict=True):
            if unknown:
                file, reason = unknown[0]
                more = f" (and {len(unknown) - 1} more)" if len(unknown) > 1 else ""
                why = f": {reason}" if reason else ""
                remark(f"{name} has no verdict on {file}{more}{why}")
                code = 2 if len(unknown) == self.good else code
        return code


# Forms

CSV, JSON = "csv", "json"


def lines_of(labelling: Labelling, labels: Labels, form: str) -> str:
    """Return the labels of a test as lines of CSV, one for each model, or as a line of JSON."""
    return _csv(_rows(labelling, labels)) if form == CSV else f"{json.dumps(_record(labelling, labels))}\n"


def header_of(labelling: Labelling, form: str) -> str:
    """Return the header line of the output, which is empty where the form has none."""
    return _csv([["file", "model", *labelling.columns]]) if form == CSV else ""


def _csv(rows: Iterable[Sequence[str]]) -> str:
    return "".join(csv_lines(rows))


def _rows(labelling: Labelling, labels: Labels) -> Iterator[Sequence[str]]:
    answers = [ModelAnswer(ERROR)] * len(labelling.names) if labels.error else labels.labels
    for name, label in zip(labelling.names, answers, strict=True):
        yield printable(labels.file), name, *labelling.cells(label)


def _record(labelling: Labelling, labels: Labels) -> Mapping[str, object]:
    if labels.error:
        return {"file": labels.file, "error": labels.error}
    verdicts = {name: labelling.record(label) for name, label in zip(labelling.names, labels.labels, strict=True)}
    return {"file": labels.file, **labels.facts, "verdicts": verdicts}


# The file of an earlier run, which a run goes on with (``synth.growing_file``)


def known_labels(
    path: Path, request: Mapping[str, Any], labelling: Labelling, form: str, files: Sequence[str]
) -> list[Labels]:
    """Return the labels in a file, which are of the first so many of ``files``.

    Of each label only whether it has a verdict is known. A file that is not there is begun. Raises ``InputError`` where
    a line is no label, and where the file is of another request or cannot be made.
    """
    read = partial(_read, labelling=labelling, form=form, files=files)
    return begun(path, request, header_of(labelling, form), read, "the verdicts of the tests in their order")


def _read(lines: WholeLines, labelling: Labelling, form: str, files: Sequence[str]) -> Iterator[tuple[Labels, int]]:
    """Yield the labels of each test that is whole, and the offset of the end of its lines."""
    if form == CSV:
        rows = csv.reader(lines)
        for name in files:
            group = list(islice(rows, len(labelling.names)))
            if len(group) < len(labelling.names):
                return
            if [cells(row[:2]) for row in group] != [[printable(name), visible(model)] for model in labelling.names]:
                raise ValueError
            yield _restored(name, [(row[2], "") for row in group]), lines.end
    else:
        for name, text in zip(files, lines, strict=False):
            record = json.loads(text)
            if record["file"] != name:
                raise ValueError
            verdicts = [record["verdicts"][model] for model in labelling.names] if "verdicts" in record else []
            pairs = [(one, "") if isinstance(one, str) else (one["verdict"], one.get("reason", "")) for one in verdicts]
            yield _restored(name, pairs, record.get("error", "")), lines.end


def _restored(file: str, verdicts: Sequence[tuple[str, str]], error: str = "") -> Labels:
    if any(verdict == ERROR for verdict, _ in verdicts):
        error = f"{file}: no test, as an earlier run found"
    return Labels(file, tuple(ModelAnswer(verdict, reason) for verdict, reason in verdicts), error=error)
