"""Reads and writes ``mutants/links.csv``, the links from tests to mutants (docs/corpus.md). A link says from which
relaxation of which test a mutant comes.

A *relaxation* is any step to a mutant here, two accesses turned round, too. A mutant may come from several tests, and
from several relaxations of one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from corpus.comma_separated import csv_line, read_rows
from corpus.errors import InputError

MUTANTS = "mutants"
"""The folder of a corpus that holds the mutants of its tests, a corpus as well."""

LINKS = "links.csv"
"""The file of a folder of mutants that says of which test and relaxation each is."""

_COLUMNS = ("test", "mutant", "relaxation", "kind")


@dataclass(frozen=True, slots=True)
class MutantLink:
    """A link from a test to a mutant of it, both by name. ``relaxation`` says in words what was relaxed, ``kind`` is
    its ``RelaxationTarget``.
    """

    test: str
    mutant: str
    relaxation: str
    kind: str


def print_links(links: Iterable[MutantLink]) -> Iterator[str]:
    """Return the lines of the file of links, the header first."""
    yield csv_line(_COLUMNS)
    for link in links:
        yield csv_line((link.test, link.mutant, link.relaxation, link.kind), quote_all=True)


def read_links(suite: Path) -> list[MutantLink]:
    """Return the links of a suite, in the order of its tests.

    Raises ``InputError`` where it has no mutants, and where a line is no link, with file and line.
    """
    path = suite / MUTANTS / LINKS
    if not path.exists():
        raise InputError("the suite has no mutants; synth memory --mutants makes them", str(suite))
    found: list[MutantLink] = []
    for line, row in read_rows(path):
        if line == 1:
            if tuple(row) != _COLUMNS:
                raise InputError(f"expected the columns {', '.join(_COLUMNS)}", str(path), 1, 1)
            continue
        if len(row) != len(_COLUMNS) or not all(row):
            raise InputError(f"expected {', '.join(_COLUMNS)}, found {len(row)} cells", str(path), line)
        found.append(MutantLink(*row))
    return found
