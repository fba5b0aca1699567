"""Outcomes of a memory test, as the programs of its launches print them, summed up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from backends.shared.process import TIMED_OUT, Run, RunError
from corpus.lines import decoder


@dataclass(frozen=True, slots=True)
class Outcomes:
    """What was seen: how often each tuple of final values (signed, in the order of ``Layout.terms``), and how many
    instances had an outcome beyond the table of their launch. ``launches`` came to an end; ``hung``: one more did not.
    """

    counts: Mapping[tuple[int, ...], int]
    other: int
    launches: int
    hung: bool


_rows = decoder(tuple[tuple[tuple[int, ...], ...], int])
"""What a launch said: rows of a count and the values that it counts, and how many found no row."""


def outcomes(run: Run) -> Outcomes:
    """The outcomes of a run. Raises ``RunError`` where the program said something else."""
    counts: Counter[tuple[int, ...]] = Counter()
    others = 0
    for line in run.said:
        try:
            rows, other = _rows(line.split(" ", 2)[2].encode())
            for count, *values in rows:
                counts[tuple(map(signed, values))] += count
            others += other
        except (IndexError, ValueError):
            raise RunError(f"the program said '{line}', and no outcomes") from None
    return Outcomes(dict(sorted(counts.items())), others, len(run.said), TIMED_OUT in run.outcomes)


def signed(word: int) -> int:
    """A word of 32 bits as a signed number."""
    return word - (word >> 31 << 32)
