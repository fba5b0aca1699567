"""The fewest tests of a corpus that tell apart every pair of models that the corpus can.

A test *separates* two models when it terminates under one and may hang under the other, or one allows and the other
forbids it. UNKNOWN, or no verdict, separates nothing. Tests that separate equal sets of pairs are interchangeable, so
only the first few of each kind are candidates: those with the fewest instructions, then the fewest threads, then first
in the corpus. By this order, too, small tests are preferred among the optimal choices (``constraints.hitting``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from constraints.hitting import least_hitting_set
from corpus.test import Test

Words = tuple[str, str]
"""The two verdicts of a family of tests."""

Pair = tuple[str, str]
"""Two models, in the order of the corpus."""


@dataclass(frozen=True, slots=True)
class Selection:
    """A selection; ``tests`` are the chosen ones, in the order of the corpus.

    ``separable`` maps each pair of models to the number of tests in the corpus that separate it; it may be 0.
    """

    tests: list[Test]
    separable: dict[Pair, int]


def select(tests: Sequence[Test], models: Sequence[str], words: Words, least: int = 1) -> Selection:
    """Select the fewest tests such that each pair of models is separated by ``least`` of them.

    A pair that fewer tests separate is separated by all of these.
    """
    vectors: dict[tuple[tuple[str, str], ...], list[int]] = {}
    for rank, test in enumerate(tests):
        vectors.setdefault(tuple(test.verdicts.items()), []).append(rank)
    kinds: dict[tuple[Pair, ...], list[int]] = {}
    for vector, ranks in vectors.items():
        kinds.setdefault(tuple(separated_pairs(dict(vector), models, words)), []).extend(ranks)

    def size(rank: int) -> tuple[int, int, int]:
        return tests[rank].size, tests[rank].threads, rank

    few = {kind: sorted(ranks, key=size)[:least] for kind, ranks in kinds.items() if kind}
    preference = sorted((rank for ranks in few.values() for rank in ranks), key=size)
    place = {rank: number for number, rank in enumerate(preference, 1)}
    sets: dict[Pair, list[int]] = {}
    separable = dict.fromkeys(combinations(models, 2), 0)
    for kind, ranks in few.items():
        for pair in kind:
            sets.setdefault(pair, []).extend(place[rank] for rank in ranks)
            separable[pair] += len(kinds[kind])
    chosen = sorted(preference[number - 1] for number in least_hitting_set(sets.values(), least))
    return Selection([tests[rank] for rank in chosen], separable)


def separated_pairs(verdicts: Mapping[str, str], models: Sequence[str], words: Words) -> list[Pair]:
    """Return the pairs of models that a test with these verdicts separates."""
    one, other = sides(verdicts, models, words)
    return [(a, b) for a, b in combinations(models, 2) if (a in one and b in other) or (a in other and b in one)]


def sides(verdicts: Mapping[str, str], models: Sequence[str], words: Words) -> tuple[list[str], list[str]]:
    """Return the models that give a test the first verdict, and those that give it the second."""
    one, other = ([model for model in models if verdicts.get(model) == word] for word in words)
    return one, other
