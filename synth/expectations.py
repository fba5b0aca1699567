"""The expected verdicts of ``synth label --expect``: a table, and what differs from it.

Four kinds of tables are read, told apart by their first line; a model that is not asked is ignored:

    file,model,verdict,condition        as ``synth label --format csv`` writes it, each column or only some
    name,sc,tso                         a column of verdicts for each model, as a corpus has it in labels.csv
    path,verdict                        of the one model that is asked
    mp.litmus,0                         no head: the truth of the condition, as in expected/MODEL.csv

A test is named by its path as the user gives it, by its file or by its name. An empty cell expects nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from corpus.comma_separated import read_rows
from corpus.errors import InputError
from synth.inputs import Input
from synth.labels import ERROR, Labelling, Labels, ModelAnswer
from synth.watch import remark

_TESTS = ("file", "path", "name", "test")
"""The possible heads of a table's first column."""

_VERDICT, _CONDITION = "verdict", "condition"
_TRUTHS = {"0": "false", "1": "true"}


@dataclass(frozen=True, slots=True)
class ExpectedVerdict:
    """A line of an expectation table: one test under one model, with the cell of each column that expects something."""

    line: int
    test: str
    model: str
    cells: Mapping[str, str]


def models_of_table(path: Path) -> list[str]:
    """Return the models that a table has verdicts of, in its order; none where it names no model.

    Raises ``InputError`` with the line where the file cannot be read, or begins with no head of such a table.
    """
    rows, _, wide = _opened(path)
    if wide[:1] == ["model"]:
        return list(dict.fromkeys(row[1] for _, row in rows if len(row) > 1))
    return [] if wide == [_VERDICT] else wide


def _opened(path: Path) -> tuple[Iterator[tuple[int, list[str]]], list[str], list[str]]:
    """Return the rows of a table below its head, the head, and what it says besides the test; nothing without a
    head."""
    rows = read_rows(path)
    first, head = next(rows, (1, []))
    wide = head[1:] if head[:1] and head[0] in _TESTS else []
    if len(head) == 2 and head[1] in _TRUTHS:
        rows = chain([(first, head)], rows)
    elif not wide:
        raise InputError("expected file,model,verdict or file,verdict or name,MODEL,..", str(path), first, 1)
    return rows, head, wide


def read_expected(path: Path, names: Sequence[str], columns: Sequence[str]) -> Iterator[ExpectedVerdict]:
    """Yield the expectations that a table has of the models that are asked, ``names``; ``columns`` are what is asked.

    Raises ``InputError`` with the line where the file cannot be read or is no such table.
    """
    rows, head, wide = _opened(path)
    if not wide or wide == [_VERDICT]:
        if len(names) != 1:
            raise InputError(f"the table names no model, and {len(names)} are asked; -m names one", str(path))
        column = _VERDICT if wide else _CONDITION
        wide = []
    for line, row in rows:
        if len(row) != len(head) or not row[0]:
            raise InputError(f"expected {len(head)} cells, found {len(row)}", str(path), line, 1)
        if wide[:1] == ["model"]:
            of_model = {row[1]: dict(zip(head[2:], row[2:], strict=True))}
        elif wide:
            of_model = {model: {_VERDICT: cell} for model, cell in zip(wide, row[1:], strict=True)}
        elif column == _CONDITION and row[1] not in _TRUTHS:
            raise InputError(f"expected 0 or 1, found {row[1]}", str(path), line, 1)
        else:
            of_model = {names[0]: {column: _TRUTHS.get(row[1], row[1])}}
        for model, cells in of_model.items():
            wanted = {name: cell for name, cell in cells.items() if cell and name in columns}
            if wanted and model in names:
                yield ExpectedVerdict(line, row[0], model, wanted)


class Expectations:
    """The expectations that a table has of tests, and the differences from them that were found."""

    def __init__(self, path: Path, labelling: Labelling, tests: Sequence[Input]) -> None:
        """Read the table.

        Raises ``InputError`` where ``read_expected`` does, where two lines contradict each other, where a line's name
        means several tests, and where the table expects nothing of the models that are asked.
        """
        self._path = path
        self._labelling = labelling
        labels = _labels_by_name(tests)
        self._of: dict[tuple[str, str], ExpectedVerdict] = {}
        self._met = 0
        self.differences: list[str] = []
        for expected in read_expected(path, labelling.names, labelling.columns):
            meant = labels.get(expected.test, {expected.test})
            if len(meant) > 1:
                raise InputError(f"{expected.test} may be {' or '.join(sorted(meant))}", str(path), expected.line, 1)
            key = (min(meant), expected.model)
            if self._of.setdefault(key, expected).cells != expected.cells:
                before = self._of[key].line
                raise InputError(f"{' '.join(key)}: line {before} expects something else", str(path), expected.line, 1)
        if not self._of:
            names = ", ".join(labelling.names)
            raise InputError(f"the table expects nothing of what is asked: {len(tests)} tests under {names}", str(path))

    def add(self, labels: Labels, restored: bool = False) -> None:
        """Compare the labels of one more test. Of labels ``restored`` from a file, only the verdicts are known."""
        names = self._labelling.names
        answers = [ModelAnswer(ERROR)] * len(names) if labels.error else labels.labels
        for name, label in zip(names, answers, strict=True):
            expected = self._of.pop((labels.file, name), None)
            if expected is None:
                continue
            found = {_VERDICT: label.verdict}
            if not (restored or labels.error):
                found = dict(zip(self._labelling.columns, self._labelling.cells(label), strict=True))
            wrong = [
                f"{column} {found[column] or 'none'}, expected {cell}"
                for column, cell in expected.cells.items()
                if column in found and cell not in (found[column], label.verdict)
            ]
            self._met += not wrong
            if wrong:
                self.differences.append(f"{labels.file}: {name}: {', '.join(wrong)}{self._line_text(expected)}")

    def tell(self) -> int:
        """Print each difference, and each test of the table that is missing; return 1 if there are any, else 0."""
        missing = [
            f"{expected.test}: {expected.model}: no such test was labelled{self._line_text(expected)}"
            for expected in self._of.values()
        ]
        every = [*self.differences, *missing]
        for line in every:
            remark(line)
        total = self._met + len(every)
        remark(f"{self._path}: {self._met} of {total} expected verdicts hold")
        return 1 if every else 0

    def _line_text(self, expected: ExpectedVerdict) -> str:
        return f" ({self._path}:{expected.line})"


def _labels_by_name(tests: Sequence[Input]) -> dict[str, set[str]]:
    """Return the labels of the tests that each name in a table may mean.

    A path as the user gave it means one test alone.
    """
    found: dict[str, set[str]] = {}
    for test in tests:
        for name in (test.name, test.file_name):
            found.setdefault(name, set()).add(test.label)
    return found | {test.label: {test.label} for test in tests}
