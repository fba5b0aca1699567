"""Reads the table of verdicts on litmus tests, ``labels.csv``. A line is ``file,model,verdict,condition,flags``, one a
verdict.

The condition is the truth of the test's condition as it is written, ``true`` or ``false``, and empty where a model has
no verdict. The flags are those that allowed executions raise, with a comma between.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from corpus.comma_separated import read_rows
from corpus.errors import InputError

COLUMNS = ["file", "model", "verdict", "condition", "flags"]

_TRUTHS = {"true": True, "false": False, "": None}


@dataclass(frozen=True, slots=True)
class VerdictRow:
    """A row of the table: what a model says of the test in a file."""

    file: str
    model: str
    verdict: str
    condition: bool | None


def truth_text(truth: bool | None) -> str:
    """Return the cell for the truth of a condition: ``true``, ``false``, or an empty text for None."""
    return "" if truth is None else str(truth).lower()


def read_verdicts(path: Path) -> list[VerdictRow]:
    """Return the rows of a table. Raises ``InputError`` with the line where it cannot be read or is not such a
    table.
    """
    rows = read_rows(path)
    _, columns = next(rows, (1, None))
    if columns != COLUMNS:
        raise InputError(f"expected the columns {','.join(COLUMNS)}", str(path), 1, 1)
    return [_row(row, line, path) for line, row in rows]


def _row(row: Sequence[str], line: int, path: Path) -> VerdictRow:
    if len(row) != len(COLUMNS) or not all(row[:3]) or row[3] not in _TRUTHS:
        expected = f"expected {','.join(COLUMNS)}, the condition true, false or empty"
        raise InputError(expected, str(path), line, 1)
    file, model, verdict, condition, *_ = row
    return VerdictRow(file, model, verdict, _TRUTHS[condition])
