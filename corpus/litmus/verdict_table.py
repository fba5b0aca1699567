"""The table of verdicts on litmus tests, ``labels.csv``: one line ``file,model,verdict,condition,flags`` a verdict.

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
    """What a model says of a file."""

    file: str
    model: str
    verdict: str
    condition: bool | None


def truth_text(truth: bool | None) -> str:
    """``true``, ``false``, or nothing."""
    return "" if truth is None else str(truth).lower()


def read_verdicts(path: Path) -> list[VerdictRow]:
    """The rows of a table. Raises ``InputError`` with the line where it cannot be read or is not such a table."""
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
