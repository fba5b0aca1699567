"""The tables of ``synth show`` for progress tests: bounds, idioms, models, and Table 4. Table 4 is the paper's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from corpus.suite import Corpus
from corpus.test import Test
from oracle.progress.hierarchy import TABLE_4, census, conforms, distinguishes, strictly_less_fair
from oracle.progress.models import MODELS
from synth.screen import plain_table

_Counts = dict[str, int | None]
"""The numbers of conformance and distinguishing tests of a model; the latter may not be known."""


class ProgressCounts:
    """The counts of a corpus of progress tests, among them of the tests at the borders between models.

    The tables have their titles in them.
    """

    heads: tuple[str, ...] = ("test", "distinguishes", "terminates under", "tags")
    listed = ""

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus
        self.models = corpus.models
        self.borders = census((test.verdicts for test in corpus.tests), corpus.models, MODELS)

    def tables(self) -> Iterator[tuple[str, Table]]:
        """Yield the tables of a corpus that has tests."""
        if self.corpus.tests:
            yield "", _terminating(self.corpus.tests, self.models)
            yield "", _d_and_c("Models", _D_AND_C, _guarantees(self.models), self._by_model())
            if self.borders.table_4:
                rows = self._table_4().items()
                cells = {f"{guarantee}-{reading}": cell for reading, row in rows for guarantee, cell in row.items()}
                yield "", _d_and_c("Table 4", _TABLE_4, TABLE_4, cells)

    def summary(self) -> dict[str, Any]:
        """Return the counts as plain data."""
        tests = self.corpus.tests
        return {
            "complete": self.corpus.complete,
            "tests": len(tests),
            "bounds": {bound: group.total() for bound, group in _by_bound(tests).items() if bound != "all"},
            "tags": {tag: group.total() for tag, group in _by_tag(tests).items()},
            "models": self._by_model(),
            "table_4": self._table_4(),
        }

    def _by_model(self) -> dict[str, _Counts]:
        counts = self.borders
        return {
            model: {"conformance": counts.conformance[model], "distinguishing": counts.distinguishing.get(model)}
            for model in self.models
        }

    def _table_4(self) -> dict[str, dict[str, _Counts]]:
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


def _guarantees(models: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(model.rpartition("-")[0] for model in models))


def _readings(models: Sequence[str], guarantee: str) -> list[str]:
    return [f"{guarantee}-{reading}" for reading in ("weak", "strong") if f"{guarantee}-{reading}" in models]


def _terminating(tests: Sequence[Test], models: Sequence[str]) -> Table:
    table = plain_table("", title="Tests terminating")
    table.add_column("tests", justify="right")
    for guarantee in _guarantees(models):
        readings = [model.rpartition("-")[2] for model in _readings(models, guarantee)]
        table.add_column(Text(f"{guarantee}\n{'/'.join(readings)}"), justify="right", no_wrap=True)
    for group in (_by_bound(tests), _by_tag(tests)):
        for name, counter in group.items():
            cells = [
                "/".join(str(_terminates(counter, model)) for model in _readings(models, guarantee))
                for guarantee in _guarantees(models)
            ]
            table.add_row(Text(name), str(counter.total()), *cells)
        table.add_section()
    return table


Vectors = Counter[tuple[tuple[str, str], ...]]
"""The number of tests with each vector of verdicts."""


def _terminates(vectors: Vectors, model: str) -> int:
    return sum(count for vector, count in vectors.items() if conforms(dict(vector), model))


def _by_bound(tests: Iterable[Test]) -> dict[str, Vectors]:
    groups: dict[str, Vectors] = {}
    for test in tests:
        groups.setdefault(test.bound, Counter())[tuple(test.verdicts.items())] += 1
    ordered = dict(sorted(groups.items(), key=lambda group: [int(part) for part in group[0].split("x")]))
    return ordered if len(ordered) < 2 else ordered | {"all": sum(ordered.values(), Counter())}


def _by_tag(tests: Iterable[Test]) -> dict[str, Vectors]:
    groups: dict[str, Vectors] = {}
    for test in tests:
        for tag in test.tags:
            groups.setdefault(tag, Counter())[tuple(test.verdicts.items())] += 1
    return dict(sorted(groups.items()))


_D_AND_C = (
    "C: tests that terminate under the model. D: those of them that may hang under every model that is less fair."
)
_TABLE_4 = (
    "As in Table 4 of Sorensen et al. 2021: each test is counted once, for the first of these models under which it "
    "terminates. Tests that terminate under weak fairness are weak, others strong."
)


def _d_and_c(
    title: str, legend: str, guarantees: Iterable[str], cells: Mapping[str, Mapping[str, int | None]]
) -> Table:
    """Return the table of distinguishing and conformance tests by model; a dash where they are not known."""
    table = plain_table("model", title=title)
    table.caption, table.caption_justify = legend, "left"
    for heading in ("weak D", "weak C", "strong D", "strong C"):
        table.add_column(heading, justify="right")
    for guarantee in guarantees:
        of = [cells.get(f"{guarantee}-{reading}", {}) for reading in ("weak", "strong")]
        row = [cell.get(key) for cell in of for key in ("distinguishing", "conformance")]
        table.add_row(Text(guarantee), *("-" if cell is None else str(cell) for cell in row))
    return table


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
