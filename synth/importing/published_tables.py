"""Reads tables of published campaigns of progress tests: the CSV files of Sorensen et al. 2021.

    Test File Name,No saturation Result,Round Robin Saturation Result,Chunking Saturation Result,All Passed
    0,P,P,P,P
    2,P,P,F (20/20),F
    Total failures:,0,0,20,1

A cell is ``P`` where every iteration terminated, and ``F (n/m)`` where n of m did not. A column is a mapping, a row a
test by its name in the suite. Each thread is in a work-group of its own, and round-robin and chunked fill 65,535
work-groups (section 6.1 and 6.2). Tables with another column have no answer here for it, for it places threads in
another way; a file whose name says ``subgroup`` or ``workgroup``, but not ``inter-workgroup``, places all of them so.

A table has no order: iterations that terminated are written first. ``P`` does not say of how many iterations it is;
the other cells do, and else it is ``REPEATED``, as the paper has it.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from backends.shared.mapping import GROUPS, launch
from backends.shared.process import TERMINATED, TIMED_OUT
from backends.shared.results import REPEATED
from corpus.errors import InputError
from corpus.files import read_text
from corpus.progress.text import program_of
from corpus.test import Test
from synth.importing.suites import Suite

BEGINS = b"Test File Name,"

MAPPING_OF = {
    "No saturation Result": "plain",
    "Round Robin Saturation Result": "round-robin",
    "Round Robin Saturation": "round-robin",
    "Chunking Saturation Result": "chunked",
    "Chunking Saturation": "chunked",
}
"""The mapping of each column that is read."""

_SUMS = "All Passed"
_TOTAL = "Total failures"
_CELL = re.compile(r"P|F \((\d{1,6})/(\d{1,6})\)")
_ELSEWHERE = re.compile(r"(?<!inter-)(?:subgroup|workgroup)", re.IGNORECASE)
MOST = 1 << 20
"""The most iterations of a cell."""


@dataclass(frozen=True, slots=True)
class _Cell:
    line: int
    test: str
    mapping: str
    hung: int
    runs: int | None


class PublishedTable:
    """The table in a file: ``skipped`` are the titles of columns that are not read, ``wrong`` lines on what is no
    result. Raises ``InputError`` where the file is no such table, or of threads that share a work-group.
    """

    def __init__(self, path: Path) -> None:
        if _ELSEWHERE.search(path.stem):
            raise InputError("a campaign within work-groups or subgroups, by its name; a table does not say which")
        try:
            rows = list(csv.reader(read_text(path).splitlines(), strict=True))
        except csv.Error as error:
            raise InputError(f"expected a table of comma-separated values: {error}") from None
        titles = rows[0][1:]
        self.skipped = [title for title in titles if title not in MAPPING_OF and title != _SUMS]
        self.wrong: list[tuple[int, str]] = []
        self._cells: list[_Cell] = []
        for number, row in enumerate(rows[1:], 2):
            if row and not row[0].startswith(_TOTAL):
                self._read(number, row, titles)

    def _read(self, number: int, row: list[str], titles: list[str]) -> None:
        if len(row) != len(titles) + 1:
            self.wrong.append((number, f"expected {len(titles) + 1} cells, found {len(row)}"))
            return
        for title, text in zip(titles, row[1:], strict=True):
            if title not in MAPPING_OF:
                continue
            cell = _CELL.fullmatch(text.strip())
            hung, runs = (int(cell[1] or 0), int(cell[2]) if cell[2] else None) if cell else (0, 0)
            if not cell or (runs is not None and not 0 < hung <= runs <= MOST):
                self.wrong.append((number, f"expected P or F (n/m) below '{title}', found {text[:20]!r}"))
            else:
                self._cells.append(_Cell(number, row[0], MAPPING_OF[title], hung, runs))

    def fields(self, suite: Suite) -> Iterator[tuple[int, dict[str, Any] | InputError]]:
        """Yield the fields of each result, or why there is none, with the number of its line."""
        usual = max((cell.runs for cell in self._cells if cell.runs), default=REPEATED)
        for cell in self._cells:
            runs = cell.runs or usual
            try:
                yield (
                    cell.line,
                    {
                        **_trial(suite.progress(cell.test), cell.mapping),
                        "iterations": runs,
                        "every_iteration": True,
                        "outcomes": TERMINATED * (runs - cell.hung) + TIMED_OUT * cell.hung,
                    },
                )
            except InputError as error:
                yield cell.line, InputError(f"{cell.test}: {error.message}")


def _trial(test: Test, mapping: str) -> dict[str, Any]:
    instances = launch(program_of(test), mapping, None, GROUPS).instances
    return {
        "test": test.name,
        "digest": test.digest,
        "backend": "published",
        "mapping": mapping,
        "instances": instances,
    }
