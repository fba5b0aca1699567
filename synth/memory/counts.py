"""The counts of a suite of memory tests: by size, shape and axiom, and the verdicts of models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from itertools import permutations
from typing import Any, TypeVar

from corpus.suite import Corpus
from corpus.test import Test
from oracle.executions.judge import Answer

Vector = tuple[str, ...]
"""The verdict of each model on a test."""

Key = TypeVar("Key", bound=Hashable)

AXIOM = "axiom:"
"""The beginning of the tags that name the axioms that a test pins."""

OTHER = "other shapes"
"""The name for all shapes that have no classic name."""


def shape(test: Test) -> str:
    """Return the classic name of the shape of a test's critical cycle, such as MP."""
    return next((tag for tag in test.tags if not tag.startswith(AXIOM)), OTHER)


def axioms(test: Test) -> list[str]:
    """Return the axioms that a test from a model pins."""
    return [tag.removeprefix(AXIOM) for tag in test.tags if tag.startswith(AXIOM)]


def counts_by_size(corpus: Corpus) -> dict[int, dict[str, int]]:
    """Return, for each number of events, how many tests there are up to it: those that pin each axiom, all, and their
    programs.

    The axioms are those of the model, so one that no test pins has a 0.
    """
    pinned = (name for test in corpus.tests for name in axioms(test))
    known = corpus.manifest.get("axioms")
    names = list(dict.fromkeys((*(map(str, known) if isinstance(known, list) else ()), *pinned)))
    counts: dict[int, dict[str, int]] = {}
    for size in sorted({test.size for test in corpus.tests}):
        upto = [test for test in corpus.tests if test.size <= size]
        counts[size] = {name: sum(name in axioms(test) for test in upto) for name in names}
        counts[size] |= {"tests": len(upto), "programs": len({test.behaviour for test in upto})}
    return counts


class SuiteCounts:
    """The numbers of tests of each size, shape and vector of verdicts, which is all that is shown but the list of
    tests.

    ``examples`` has the first test of each vector.
    """

    listed = "Every test"

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus
        self.models = corpus.models
        self.heads = ("test", *corpus.models)
        self.kinds = Counter[tuple[int, str, Vector]]()
        self.examples: dict[Vector, str] = {}
        for test in corpus.tests:
            vector = tuple(_verdict(test, model) for model in self.models)
            self.kinds[test.size, shape(test), vector] += 1
            self.examples.setdefault(vector, test.name)

    @property
    def tests(self) -> int:
        """Return the number of all tests of the corpus."""
        return self.kinds.total()

    def sizes(self) -> dict[int, int]:
        """Return the number of tests of each size, smallest size first."""
        return dict(sorted(self._by(lambda size, shape, vector: size).items()))

    def shapes(self) -> dict[str, int]:
        """Return the number of tests of each shape, most frequent first, those without a name last."""
        shapes = self._by(lambda size, shape, vector: shape)
        return {name: shapes[name] for name in sorted(shapes, key=lambda name: (name == OTHER, -shapes[name], name))}

    def vectors(self) -> dict[Vector, int]:
        """Return the number of tests of each vector of verdicts, most frequent first."""
        return dict(sorted(self._by(lambda size, shape, vector: vector).items(), key=lambda item: -item[1]))

    def verdicts_of(self, model: str, wanted: Callable[[int, str], bool] = lambda size, shape: True) -> Counter[str]:
        """Return the number of tests of each verdict of a model, among those whose size and shape are wanted."""
        index, found = self.models.index(model), Counter[str]()
        for (size, shape, vector), count in self.kinds.items():
            if wanted(size, shape):
                found[vector[index]] += count
        return found

    def telling(self, allows: str, forbids: str) -> int:
        """Return the number of tests that one model allows and another forbids."""
        one, other = self.models.index(allows), self.models.index(forbids)
        both = (Answer.ALLOWED, Answer.FORBIDDEN)
        return self._by(lambda size, shape, vector: (vector[one], vector[other]) == both)[True]

    def _by(self, key: Callable[[int, str, Vector], Key]) -> Counter[Key]:
        found = Counter[Key]()
        for kind, count in self.kinds.items():
            found[key(*kind)] += count
        return found

    def summary(self) -> dict[str, Any]:
        """Return the counts as plain data."""
        models, corpus = self.models, self.corpus
        verdicts = {model: self.verdicts_of(model) for model in models}
        found: dict[str, Any] = {
            "complete": corpus.complete,
            "request": corpus.manifest.get("request", {}),
            "tests": self.tests,
            "sizes": {str(size): count for size, count in self.sizes().items()},
            "families": self.shapes(),
            "models": {model: {answer: counts[answer] for answer in Answer} for model, counts in verdicts.items()},
            "pairs": [
                {"allows": allows, "forbids": forbids, "tests": self.telling(allows, forbids)}
                for allows, forbids in permutations(models, 2)
            ],
            "vectors": [
                {"verdicts": dict(zip(models, vector, strict=True)), "tests": count, "example": self.examples[vector]}
                for vector, count in self.vectors().items()
            ],
        }
        if any(map(axioms, corpus.tests)):
            found["events"] = {str(size): row for size, row in counts_by_size(corpus).items()}
        return found

    def lines(self) -> Iterator[tuple[dict[str, Any], tuple[str, ...]]]:
        """Yield the size, the shape and the verdicts of each test."""
        for test in self.corpus.tests:
            verdicts = {model: _verdict(test, model) for model in self.models}
            line = {"name": test.name, "size": test.size, "family": shape(test), "verdicts": verdicts}
            yield line, (test.name, *verdicts.values())


def _verdict(test: Test, model: str) -> str:
    return test.verdicts.get(model, Answer.UNKNOWN)
