"""Slips in models show: some test tells a mutant of a model from it, or there is none up to so many events.

Comparison finds the smallest tests. The mutants that it does not tell from their parent are listed with a reason,
``mutants_alike.csv``: that they mean the same, of how many events the threads of a test are, or which of the tests that
ship, with a stated verdict or without, says something else of them. The examples alone tell fewer mutants: whoever
wrote them had other questions, and no more is asked of that number than that it does not shrink.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
from model_mutants import Mutant, mutants
from verdicts import test_mixed_proxies as mixed_proxies
from verdicts import test_vulkan_alloy as vulkan_alloy

from constraints.loop import solutions
from constraints.programs.forbidden import Forbidden, SeparationQuestion, splits
from corpus.dialects.registry import read_litmus
from corpus.executions.litmus import litmus_test
from corpus.executions.vocabulary import vocabulary
from corpus.litmus.test import LitmusTest
from oracle.cat.interpreter import Model, checked_model
from oracle.cat.syntax import parse_cat, shipped_models
from oracle.consistency import load_model
from oracle.executions.bounds import UNROLL
from oracle.executions.events import VOCABULARY
from oracle.executions.judge import Answer, is_quick_to_list, judge
from oracle.executions.vocabulary import distinguished, vocabulary_of

EXAMPLES = Path(__file__).parents[2] / "examples" / "memory"
FOLDERS = {"opencl": "opencl", "ptx": "ptx", "ptx-7.5": "ptx", "vulkan": "vulkan", "webgpu": "webgpu"}
"""Where the examples of a model are, if it has examples of its own."""

PARTS = ("opencl", "ptx-7.5", "webgpu")
"""Models of which their own lines alone are asked: slips in what they include are asked of c11, ptx and vulkan."""

TOLD = {
    "ptx": 58,
    "ptx-6.0": 64,
    "ptx-rmo": 28,
    "rc11": 39,
    "rc11-scoped": 37,
    "rmo": 23,
    "sc": 8,
    "thesis-strong-axiomatic": 22,
    "tso": 20,
    "vulkan": 71,
}
"""Mutants, of slips other than a lost link, that some example tells from their parent."""

TOLD_AT = {
    "c11": {1: 3, 2: 11, 3: 1, 4: 26},
    "opencl": {1: 8, 2: 14, 3: 1},
    "ptx": {1: 3, 2: 20, 3: 27, 4: 16},
    "ptx-6.0": {1: 3, 2: 16, 3: 16, 4: 24, 5: 16},
    "ptx-7.5": {3: 4},
    "ptx-rmo": {2: 9, 3: 10, 4: 12, 5: 2, 6: 5},
    "rc11": {1: 2, 2: 4, 3: 3, 4: 29, 5: 11},
    "rc11-scoped": {1: 2, 2: 5, 3: 2, 4: 26, 5: 13},
    "rmo": {2: 9, 3: 10, 4: 5, 5: 2, 6: 3},
    "sc": {2: 7, 3: 4},
    "sra": {1: 2, 2: 6, 3: 3, 6: 6},
    "thesis-strong-axiomatic": {2: 5, 4: 1, 6: 19},
    "tso": {2: 4, 3: 1, 4: 14, 5: 3, 6: 2},
    "vulkan": {2: 16, 3: 6},
    "webgpu": {2: 2, 4: 12},
}
"""Mutants that a smallest test of so many events tells from their parent."""

BOUND = dict.fromkeys(TOLD_AT, 6) | {
    "c11": 4,
    "opencl": 3,
    "ptx": 4,
    "ptx-6.0": 5,
    "ptx-7.5": 4,
    "rc11": 5,
    "rc11-scoped": 5,
    "vulkan": 3,
    "webgpu": 4,
}
"""Up to how many events tests were looked for."""

FAST = 4
"""Up to how many events they are looked for in the fast tests, for models with few words."""


class Alike(NamedTuple):
    """Why no test up to the bound tells a mutant from its parent.

    ``threads``: the events of each thread of a test that does, beyond the bound or over another vocabulary.
    ``example``: a test of ``examples/memory`` that does, or one of a table of ``tests/verdicts`` by its name or line.
    """

    model: str
    mutant: str
    vocabulary: str
    threads: str
    example: str
    reason: str

    @property
    def sizes(self) -> tuple[int, ...]:
        """The events of each thread."""
        return tuple(map(int, self.threads.split(".")))


with (Path(__file__).parent / "mutants_alike.csv").open(newline="") as file:
    ALIKE = [Alike(**row) for row in csv.DictReader(file)]


def slips(name: str) -> list[Mutant]:
    """The mutants of a model that make sense and are not of a part that is another's; of a model with few, all."""
    sensible = [mutant for mutant in mutants(name) if mutant.slip != "link" or name == "sc"]
    return [mutant for mutant in sensible if name not in PARTS or not mutant.label.startswith("parts/")]


def smallest(
    parent: Model, mutant: Model, sizes: Iterable[tuple[int, ...]], dialect: str = ""
) -> tuple[int, ...] | None:
    """The first of some sizes of threads of which a test tells a mutant from its parent, whichever allows it."""
    models = [parent, mutant]
    words = distinguished(vocabulary(dialect), models) if dialect else vocabulary_of(models)
    for split in sizes:
        for allows, forbids in (models, models[::-1]):
            encoding = Forbidden(SeparationQuestion(forbids, (allows,), minimal=False), words, split)
            execution = next(solutions(encoding, "minisat22"), None)
            if execution is not None:
                test = litmus_test(execution, "test", observed=False)
                assert judge(test, allows).answer is Answer.ALLOWED
                assert judge(test, forbids).answer is Answer.FORBIDDEN
                return split
    return None


def sizes_told(name: str, events: int) -> tuple[dict[int, int], list[str]]:
    """How many mutants the smallest tests of each size tell from their parent, and those that none does."""
    parent = load_model(shipped_models()[name], name)
    every = [split for size in range(1, events + 1) for split in splits(size)]
    told = {mutant.label: smallest(parent, model_of(mutant), every) for mutant in slips(name)}
    found = Counter(sum(split) for split in told.values() if split is not None)
    return dict(sorted(found.items())), [label for label, split in told.items() if split is None]


def model_of(mutant: Mutant) -> Model:
    """The mutant as a model."""
    return checked_model("mutant", parse_cat(mutant.text, "mutant.cat"), VOCABULARY)


@cache
def examples(name: str) -> tuple[LitmusTest, ...]:
    """The examples whose executions are quick to list under any model; of a model with examples of its own, these."""
    widest = load_model(shipped_models()["ptx-6.0"])  # writes may stay unordered: no model has more candidates
    tests = (read_litmus(path) for path in sorted((EXAMPLES / FOLDERS.get(name, "")).glob("*.litmus")))
    return tuple(test for test in tests if is_quick_to_list(test, widest, UNROLL))


@cache
def answer(test: LitmusTest, model: Model) -> Answer:
    """What a model says of a test."""
    return judge(test, model).answer


def telling(parent: Model, other: Model, tests: Sequence[LitmusTest]) -> LitmusTest | None:
    """The first of the tests of which two models do not say the same."""
    return next((test for test in tests if answer(test, parent) is not judge(test, other).answer), None)


@pytest.mark.slow
@pytest.mark.parametrize("name", TOLD)
def test_examples_tell_mutants_from_their_parent(name: str) -> None:
    parent = load_model(shipped_models()[name], name)
    slips = [mutant for mutant in mutants(name) if mutant.slip != "link"]
    told = [mutant for mutant in slips if telling(parent, model_of(mutant), examples(name)) is not None]
    assert len(told) >= TOLD[name]


@pytest.mark.parametrize("name", ["sc", "tso"])
def test_small_tests_tell_mutants_from_their_parent(name):
    told, alike = sizes_told(name, FAST)
    assert told == {size: count for size, count in TOLD_AT[name].items() if size <= FAST}
    assert set(alike) >= {row.mutant for row in ALIKE if row.model == name}


@pytest.mark.slow
@pytest.mark.parametrize("name", TOLD_AT)
def test_tests_tell_mutants_from_their_parent_up_to_a_bound(name):
    told, alike = sizes_told(name, BOUND[name])
    assert alike == [row.mutant for row in ALIKE if row.model == name]
    assert told == TOLD_AT[name]


def shown(example: str, model: Model) -> object:
    """What a model says of a test that ships."""
    table, _, key = example.partition(":")
    match table:
        case "mixed_proxies":
            return judge(mixed_proxies.written(mixed_proxies.TABLE[int(key) - 2]), model).answer
        case "vulkan_alloy":
            (row,) = (row for row in vulkan_alloy.TABLE if row["test"] == key and row["chains"] == "yes")
            return vulkan_alloy.executions(vulkan_alloy.written(row), model)
    judgement = judge(read_litmus(EXAMPLES / f"{example}.litmus"), model)
    return judgement.answer, judgement.flags


@pytest.mark.slow
@pytest.mark.parametrize("row", [row for row in ALIKE if row.example], ids=lambda row: f"{row.model} {row.mutant}")
def test_tests_that_ship_tell_mutants_from_their_parent(row):
    (mutant,) = [mutant for mutant in slips(row.model) if mutant.label == row.mutant]
    parent = load_model(shipped_models()[row.model], row.model)
    assert shown(row.example, model_of(mutant)) != shown(row.example, parent)


@pytest.mark.slow
@pytest.mark.parametrize("row", [row for row in ALIKE if row.threads], ids=lambda row: f"{row.model} {row.mutant}")
def test_larger_tests_tell_mutants_from_their_parent(row):
    (mutant,) = [mutant for mutant in slips(row.model) if mutant.label == row.mutant]
    parent = load_model(shipped_models()[row.model], row.model)
    assert smallest(parent, model_of(mutant), [row.sizes], row.vocabulary) == row.sizes
