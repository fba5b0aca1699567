"""The shapes of litmus tests: tests of one shape differ only in memory orders, and are judged in one pass.

``x =rlx 1; r = y acq || ..`` and ``x =rel 1; r = y rlx || ..`` have equal sets of candidate executions; only the sets
of acquires and releases differ. A candidate of all these tests is a candidate of one of them and the number of the
test, and the model is evaluated once over sets of such pairs. A suite of a cycle in all orders has hundreds of tests of
one shape.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from contextlib import suppress
from math import prod

from corpus.errors import InputError
from corpus.litmus.test import LitmusTest, plain_locations
from oracle.cat.interpreter import Model
from oracle.executions.candidates import count_candidates, silence
from oracle.executions.judge import QUICK_COMBINATIONS, Judgement, judge_alike
from oracle.executions.steps import TooManyError
from oracle.executions.threads import Paths, is_small, unroll_threads

_Unrolled = tuple[int, LitmusTest, tuple[Paths, ...]]
"""The number of a test, the test, and the ways through its threads."""

MOST_TOGETHER = 1 << 13
"""The limit of candidates of several tests that are judged at once; larger sets are slower than several passes."""


def judge_together(tests: Sequence[LitmusTest], model: Model, unroll: int) -> list[Judgement | None]:
    """The judgements of a model on tests, those of one shape judged in one pass; None where a test is to be judged
    alone.

    The judgements are those of ``oracle.executions.judge.judge``.
    """
    found: list[Judgement | None] = [None] * len(tests)
    if model.chosen_orders or model.syntax.over_members is not None:  # memory orders may decide which orders are chosen
        return found
    groups: dict[Hashable, list[_Unrolled]] = {}
    for number, test in enumerate(tests):
        if not all(map(is_small, test.threads)) or silence(test, model) is not None:
            continue
        with suppress(InputError):
            threads = unroll_threads(test, unroll)
            if not any(thread.bounded for thread in threads):
                groups.setdefault(shape(test, threads), []).append((number, test, threads))
    for group in groups.values():
        for part in _parts(group, model):
            numbers, some, unrolled = zip(*part, strict=True)
            with suppress(TooManyError):
                for number, judgement in zip(numbers, judge_alike(some, unrolled, model), strict=True):
                    found[number] = judgement
    return found


def shape(test: LitmusTest, threads: Sequence[Paths]) -> Hashable:
    """The key that tests of one shape share; ``threads``: the ways through its threads, none of which was cut."""
    places = tuple(thread.place for thread in test.threads)
    ways = tuple(thread.shape for thread in threads)
    return ways, test.condition, test.locations, test.synchronised, places, plain_locations(test)


def _parts(group: Sequence[_Unrolled], model: Model) -> Iterator[Sequence[_Unrolled]]:
    """Tests of one shape, as many of them as are judged at once."""
    _, test, threads = group[0]
    if prod(len(thread.paths) for thread in threads) > QUICK_COMBINATIONS:
        return
    candidates = count_candidates(test, threads, model, MOST_TOGETHER // 2)
    if candidates is not None:
        size = MOST_TOGETHER // candidates
        yield from (group[start : start + size] for start in range(0, len(group), size))
