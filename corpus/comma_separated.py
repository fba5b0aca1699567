"""Reads and writes CSV files that are safe to open in a spreadsheet.

A spreadsheet takes a cell that begins with ``=``, ``+``, ``-``, ``@``, a tab or a carriage return for a formula, and
runs it (CWE-1236; OWASP, *CSV Injection*). So a text that begins so, behind any number of apostrophes, gets one
apostrophe more, and ``cells`` takes one away. Numbers are written as they are. Characters that would reorder or steer
what is shown are escaped (``corpus.errors.visible``).

    csv_line(["=1+1", -2])     '=1+1,-2
    cells(["'=1+1", "-2"])     =1+1 and -2
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from corpus.errors import InputError, visible
from corpus.files import read_text

_RUN = re.compile(r"'*[=+\-@\t\r]")
_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*")
_GUARDED = re.compile(r"'+[=+\-@\t\r]")


def csv_line(row: Sequence[object], quote_all: bool = False) -> str:
    """Return a row as a line, with its line end. With ``quote_all``, every cell is in quotation marks, else only those
    that need them.
    """
    guarded = [_guarded(cell) for cell in row]
    quote_all = quote_all or any(isinstance(cell, str) and "\r" in cell for cell in guarded)  # else it ends a row
    text = io.StringIO()
    csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL if quote_all else csv.QUOTE_MINIMAL).writerow(guarded)
    return text.getvalue()


def csv_lines(rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """Return the lines of a CSV file, one line a row, each with its line end."""
    return map(csv_line, rows)


def csv_cell(text: str) -> str:
    """Return a text as a cell of a row. Texts of the characters that most names have are not changed, which is fast for
    a corpus of very many tests.
    """
    return text if _PLAIN.fullmatch(text) else csv_line([text])[:-1]


def cells(row: Sequence[str]) -> list[str]:
    """Return the texts in a row that ``csv_line`` wrote and ``csv.reader`` read."""
    return [cell[1:] if _GUARDED.match(cell) else cell for cell in row]


def read_rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Return the rows of a file, each with the number of the line that it ends in, from 1.

    Raises ``InputError`` where the file cannot be read or is no CSV, with the line.
    """
    rows = csv.reader(io.StringIO(read_text(path)), strict=True)
    try:
        for row in rows:
            yield rows.line_num, cells(row)
    except csv.Error as error:
        what = str(error).partition(" - ")[0]  # what comes then is for programmers
        raise InputError(f"not CSV: {what}", str(path), rows.line_num, 1) from None


def _guarded(cell: object) -> object:
    if not isinstance(cell, str):
        return cell
    cell = visible(cell)
    return f"'{cell}" if _RUN.match(cell) else cell
