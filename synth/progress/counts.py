"""The counts of a corpus of progress tests: by bounds, idioms and models, and Table 4 of the paper."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from corpus.suite import Corpus
from corpus.test import Test
from oracle.progress.hierarchy import TABLE_4, census, conforms, distinguishes, strictly_less_fair
from oracle.progress.models import MODELS

RoleCounts = dict[str, int | None]
"""The numbers of conformance and distinguishing tests of a model; the latter may not be known."""


class ProgressCounts:
    """The counts of a corpus of progress tests, among them of the tests at the borders between models."""

    heads: tuple[str, ...] = ("test", "distinguishes", "terminates under", "tags")
    listed = ""

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus
        self.models = corpus.models
        self.borders = census((test.verdicts for test in corpus.tests), corpus.models, MODELS)

    def summary(self) -> dict[str, Any]:
        """Return the counts as plain data."""
        tests = self.corpus.tests
        return {
            "complete": self.corpus.complete,
            "tests": len(tests),
            "bounds": {bound: group.total() for bound, group in by_bound(tests).items() if bound != "all"},
            "tags": {tag: group.total() for tag, group in by_tag(tests).items()},
            "models": self.by_model(),
            "table_4": self.table_4(),
        }

    def by_model(self) -> dict[str, RoleCounts]:
        """Return the numbers of conformance and distinguishing tests of each model."""
        counts = self.borders
        return {
            model: {"conformance": counts.conformance[model], "distinguishing": counts.distinguishing.get(model)}
            for model in self.models
        }

    def table_4(self) -> dict[str, dict[str, RoleCounts]]:
        """Return the numbers of Table 4, by reading and guarantee."""
        counts = self.borders
        return {
            reading: {
                guarantee: {
                    "distinguishing": counts.table_4.get((reading, guarantee), 0),
                    "conformance": counts.table_4_conformance(reading, guarantee),
                }
                for guarantee in TABLE_4
            }
            for reading in ("weak", "strong")
        }

    def lines(self) -> Iterator[tuple[dict[str, Any], tuple[str, ...]]]:
        """Yield the models of which each test is a conformance test, and those of which it is a distinguishing test."""
        for test, (conformance, distinguishing) in _roles(self.corpus.tests, self.models):
            tags = list(test.tags)
            line = {"name": test.name, "conformance": conformance, "distinguishing": distinguishing, "tags": tags}
            yield line, (test.name, *map(" ".join, (distinguishing, conformance, tags)))


Vectors = Counter[tuple[tuple[str, str], ...]]
"""The number of tests with each vector of verdicts."""


def by_bound(tests: Iterable[Test]) -> dict[str, Vectors]:
    """Return the tests of each bound, and of all where there are several."""
    groups: dict[str, Vectors] = {}
    for test in tests:
        groups.setdefault(test.bound, Counter())[tuple(test.verdicts.items())] += 1
    ordered = dict(sorted(groups.items(), key=lambda group: [int(part) for part in group[0].split("x")]))
    return ordered if len(ordered) < 2 else ordered | {"all": sum(ordered.values(), Counter())}


def by_tag(tests: Iterable[Test]) -> dict[str, Vectors]:
    """Return the tests of each tag."""
    groups: dict[str, Vectors] = {}
    for test in tests:
        for tag in test.tags:
            groups.setdefault(tag, Counter())[tuple(test.verdicts.items())] += 1
    return dict(sorted(groups.items()))


Roles = tuple[list[str], list[str]]
"""The models of which a test is a conformance test, and those of which it is a distinguishing test."""


def _roles(tests: Iterable[Test], models: Sequence[str]) -> Iterator[tuple[Test, Roles]]:
    less_fair = strictly_less_fair(MODELS[model] for model in models if model in MODELS)
    known: dict[tuple[tuple[str, str], ...], Roles] = {}
    for test in tests:
        vector = tuple(test.verdicts.items())
        if vector not in known:
            known[vector] = (
                [model for model in models if conforms(test.verdicts, model)],
                [model for model, lesser in less_fair.items() if distinguishes(test.verdicts, model, lesser)],
            )
        yield test, known[vector]
