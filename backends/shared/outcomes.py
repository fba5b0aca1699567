"""Sums up the outcomes of a memory test that the programs of its launches print."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from backends.shared.process import TIMED_OUT, Run, RunError
from corpus.lines import decoder


@dataclass(frozen=True, slots=True)
class SeenOutcomes:
    """The outcomes that were seen: how often each tuple of final values (signed, in the order of ``Layout.terms``), and
    how many instances had an outcome beyond the table of their launch. ``launches`` came to an end; ``hung``: one more
    did not.
    """

    counts: Mapping[tuple[int, ...], int]
    other: int
    launches: int
    hung: bool


_rows = decoder(tuple[tuple[tuple[int, ...], ...], int])
"""Decodes what a launch printed: rows of a count and the values that it counts, and how many found no row."""


def launch_rows(output: str) -> tuple[Counter[tuple[int, ...]], int]:
    """Return what a launch printed as JSON: how often each tuple of final values was seen, and how many found
    no row.

    Raises ``ValueError`` where it is something else.
    """
    counts: Counter[tuple[int, ...]] = Counter()
    rows, other = _rows(output.encode("utf-8", "replace"))
    for row in rows:
        if not row:
            raise ValueError("expected a count")
        counts[tuple(map(signed, row[1:]))] += row[0]
    return counts, other


def outcomes(run: Run) -> SeenOutcomes:
    """Return the outcomes of a run. Raises ``RunError`` where the program printed something else."""
    counts: Counter[tuple[int, ...]] = Counter()
    others = 0
    for line in run.lines:
        try:
            rows, other = launch_rows(line.split(" ", 2)[2])
        except (IndexError, ValueError):
            raise RunError(f"the program said '{line}', and no outcomes") from None
        counts.update(rows)
        others += other
    return SeenOutcomes(dict(sorted(counts.items())), others, len(run.lines), TIMED_OUT in run.outcomes)


def signed(word: int) -> int:
    """Return a word of 32 bits as a signed number."""
    return word - (word >> 31 << 32)
