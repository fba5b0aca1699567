"""Explanations of verdicts, one model at a time, by a process that keeps to limits. The process ends at Ctrl-C."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import lru_cache
from typing import TYPE_CHECKING, TypeVar

from synth.accounts import Account
from synth.inputs import Input
from synth.labels import JSON, UNKNOWN
from synth.pool import map_each
from synth.requests import AUTO
from synth.watch import watching
from synth.worker import Limits

if TYPE_CHECKING:  # slow to import, and not every command needs it
    from synth.families.interface import Family, ModelAccount

Made = TypeVar("Made")


def unexplained(test: Input, model: str, reason: str) -> Account:
    """Return the account that a model has no verdict on a test, with the reason."""
    return Account(test.name, model, UNKNOWN, "", f"No verdict: {reason}.")


def explanations(
    kind: Family,
    tests: Sequence[Input],
    models: Sequence[str],
    unroll: int,
    limits: Limits,
    make: Callable[[ModelAccount], Made],
    lost: Callable[[Input, str, str], Made],
) -> Iterator[list[Made]]:
    """Yield, one test at a time, an explanation by every model, which ``make`` turns into its form within the process.

    ``lost`` gives that form where an explanation exceeds the limits; it is told the model and the reason. Raises
    ``InputError`` where a model is unknown or a test is none.
    """
    names = kind.labelling(models, AUTO, unroll, JSON).names
    pairs = [(test, number) for test in tests for number in range(len(names))]

    @lru_cache(maxsize=1)
    def explained(test: Input) -> list[ModelAccount]:
        return kind.explain(test, models, unroll)

    def work(one: tuple[Input, int]) -> Made:
        test, number = one
        return make(explained(test)[number])

    def unknown(one: tuple[Input, int], reason: str) -> Made:
        test, number = one
        return lost(test, names[number], reason)

    row: list[Made] = []
    done = 0
    with (
        watching("Explaining", found=False) as watch,
        closing(map_each(work, pairs, 1, limits, unknown)) as results,
    ):
        watch(0, len(pairs))
        for result in results:
            done += result is not None
            watch(done, len(pairs))
            if result is not None:
                row.append(result)
                if len(row) == len(names):
                    yield row
                    row = []
