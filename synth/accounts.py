"""Accounts of why models give a test their verdicts, as text, in a row or in columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from textwrap import wrap
from typing import NamedTuple

_BAR = " | "
_LEAST = 20  # characters of a column


class Account(NamedTuple):
    """The account of a model's verdict on a test. ``about`` holds the lines that no model changes, if there are any."""

    test: str
    model: str
    verdict: str
    about: str
    reason: str

    def text(self) -> str:
        """Return the whole account as lines of text."""
        parts = (f"{self.test} under {self.model}: {self.verdict}", self.about, self.reason)
        return "\n\n".join(part for part in parts if part) + "\n"


def in_columns(accounts: Sequence[Account], width: int) -> str:
    """Lay out the accounts of several models of one test in columns, within lines of ``width`` characters.

    There is at least one account, and each has a column. A column is as wide as it needs to be where there is room; the
    long lines of the other columns are folded.
    """
    columns = [[f"{account.model}: {account.verdict}", "", *account.reason.split("\n")] for account in accounts]
    sizes = _shared([max(map(len, column)) for column in columns], width - len(_BAR) * (len(columns) - 1))
    folded = (
        [part for line in column for part in _folded(line, size)] for column, size in zip(columns, sizes, strict=True)
    )
    rows = zip_longest(*folded, fillvalue="")
    table = [_BAR.join(f"{cell:<{size}}" for cell, size in zip(row, sizes, strict=True)).rstrip() for row in rows]
    parts = (accounts[0].test, accounts[0].about, "\n".join(table))
    return "\n\n".join(part for part in parts if part) + "\n"


def _shared(wanted: Sequence[int], room: int) -> list[int]:
    """Return the widths of columns that want these widths: what narrow columns leave is shared by the others."""
    given = list(wanted)
    for rank, place in enumerate(sorted(range(len(wanted)), key=wanted.__getitem__)):
        given[place] = min(wanted[place], max(_LEAST, room // (len(wanted) - rank)))
        room -= given[place]
    return given


def _folded(line: str, width: int) -> Iterator[str]:
    """Yield the parts of a line that is too long; the parts after the first are indented further than the line."""
    indent = " " * min(len(line) - len(line.lstrip()) + 4, width // 2)
    yield from wrap(line, width, subsequent_indent=indent, break_on_hyphens=False) or [""]
