"""``synth show`` for corpora of memory tests: what was asked, what there is, and what the models say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations
from typing import Any

from rich.table import Table
from rich.text import Text

from corpus.suite import Corpus
from corpus.test import Test
from oracle.executions.judge import Answer
from synth.screen import Listing, plain_table

Vector = tuple[str, ...]
"""What each model says of a test."""

AXIOM = "axiom:"
"""What the tags begin with that name the axioms that a test pins."""

OTHER = "other shapes"
"""Where tests belong whose shape has no classic name."""


def shape(test: Test) -> str:
    """The classic name of a test's shape, such as MP."""
    return next((tag for tag in test.tags if not tag.startswith(AXIOM)), OTHER)


def axioms(test: Test) -> list[str]:
    """The axioms that a test from a model pins."""
    return [tag.removeprefix(AXIOM) for tag in test.tags if tag.startswith(AXIOM)]


def counts_by_size(corpus: Corpus) -> dict[int, dict[str, int]]:
    """By number of events, how many tests there are up to it: those that pin each axiom, all, and their programs."""
    names = list(dict.fromkeys(name for test in corpus.tests for name in axioms(test)))
    counts: dict[int, dict[str, int]] = {}
    for size in sorted({test.size for test in corpus.tests}):
        upto = [test for test in corpus.tests if test.size <= size]
        counts[size] = {name: sum(name in axioms(test) for test in upto) for name in names}
        counts[size] |= {"tests": len(upto), "programs": len({test.behaviour for test in upto})}
    return counts


def size_table(corpus: Corpus) -> Table:
    """Tests of a suite from a model up to each number of events, by axiom and in all."""
    counts = counts_by_size(corpus)
    table = plain_table("up to")
    for name in next(iter(counts.values()), {}):
        table.add_column(Text(name), justify="right")
    for size, row in counts.items():
        table.add_row(f"{size} events", *map(str, row.values()))
    return table


def counts_by_shape(corpus: Corpus) -> dict[str, dict[str, Counter[str]]]:
    """By shape, most frequent first, those without a name last, and by model, how many tests have which verdict."""
    shapes = Counter(map(shape, corpus.tests))
    names = sorted(shapes, key=lambda name: (name == OTHER, -shapes[name], name))
    counts: dict[str, dict[str, Counter[str]]] = {name: {model: Counter() for model in corpus.models} for name in names}
    for test in corpus.tests:
        for model in corpus.models:
            counts[shape(test)][model][_said(test, model)] += 1
    return counts


def _said(test: Test, model: str) -> str:
    return test.verdicts.get(model, Answer.UNKNOWN)


def _vectors(corpus: Corpus) -> dict[Vector, list[str]]:
    """The names of the tests by what the models say, most frequent first."""
    found: dict[Vector, list[str]] = {}
    for test in corpus.tests:
        found.setdefault(tuple(_said(test, model) for model in corpus.models), []).append(test.name)
    return dict(sorted(found.items(), key=lambda item: -len(item[1])))


def _telling(corpus: Corpus, allows: str, forbids: str) -> int:
    """The number of tests that one model allows and another forbids."""
    one, other = corpus.models.index(allows), corpus.models.index(forbids)
    return sum(
        len(names)
        for vector, names in _vectors(corpus).items()
        if (vector[one], vector[other]) == (Answer.ALLOWED, Answer.FORBIDDEN)
    )


def tables(corpus: Corpus, list_tests: bool) -> Iterator[tuple[str, Table | Listing]]:
    """Titles and tables."""
    yield "Asked for", _asked(corpus.manifest.get("request", {}))
    if any(map(axioms, corpus.tests)):
        yield "Tests up to a number of events, by the axioms that they pin", size_table(corpus)
    if corpus.tests:
        yield "Tests, and how many of them each model allows" if corpus.models else "Tests", _allowed(corpus)
        if corpus.models:
            yield "Models", _per_model(corpus)
        if len(corpus.models) > 1:
            yield "Tests that the model of the row allows and that of the column forbids", _pairs(corpus)
            yield "Verdicts that go together: A allowed, F forbidden, ? no verdict", _vector_table(corpus)
    if list_tests:
        yield "Every test", _listing(corpus)


def _asked(request: Mapping[str, Any]) -> Table:
    """The request without what was not asked for, and without what only a machine reads."""
    table = Table(box=None, pad_edge=False, show_header=False)
    for name, value in request.items():
        if name in ("kind", "models", "model_digests", "from", "without") or not value:
            continue
        if name in ("sizes", "threads", "events") and isinstance(value, list):
            text = str(value[0]) if value[0] == value[-1] else f"{value[0]}..{value[-1]}"
        elif isinstance(value, list):
            text = ", ".join(map(str, value))
        else:
            text = str(value).lower() if value is True else str(value)
        table.add_row(Text(name.replace("_", " ")), Text(text))
    return table


def _allowed(corpus: Corpus) -> Table:
    """Tests by size and by shape, and of each how many every model allows."""
    table = plain_table("")
    for heading in ("tests", *corpus.models):
        table.add_column(Text(heading), justify="right", no_wrap=True)
    sizes = sorted({test.size for test in corpus.tests})
    groups = {f"size {size}": [test for test in corpus.tests if test.size == size] for size in sizes}
    for heading, tests in groups.items() if len(sizes) > 1 else ():
        table.add_row(heading, *_allowed_counts(corpus, tests))
    table.add_row("all", *_allowed_counts(corpus, corpus.tests))
    table.add_section()
    shapes = Counter(map(shape, corpus.tests))
    for name, said in counts_by_shape(corpus).items():
        allowed = (said[model][Answer.ALLOWED] for model in corpus.models)
        table.add_row(Text(name), str(shapes[name]), *map(str, allowed))
    return table


def _allowed_counts(corpus: Corpus, tests: Sequence[Test]) -> list[str]:
    allowed = [sum(_said(test, model) == Answer.ALLOWED for test in tests) for model in corpus.models]
    return [str(count) for count in (len(tests), *allowed)]


def _verdicts(corpus: Corpus, model: str) -> Counter[str]:
    return Counter(_said(test, model) for test in corpus.tests)


def _per_model(corpus: Corpus) -> Table:
    said = {model: _verdicts(corpus, model) for model in corpus.models}
    answers = [answer for answer in Answer if any(counts[answer] for counts in said.values())]
    table = plain_table("model")
    for answer in answers:
        table.add_column(answer.lower(), justify="right")
    for model, counts in said.items():
        table.add_row(Text(model), *(str(counts[answer]) for answer in answers))
    return table


def _pairs(corpus: Corpus) -> Table:
    table = plain_table("")
    for model in corpus.models:
        table.add_column(Text(model), justify="right", no_wrap=True)
    for allows in corpus.models:
        cells = ["" if allows == forbids else str(_telling(corpus, allows, forbids)) for forbids in corpus.models]
        table.add_row(Text(allows), *cells)
    return table


def _vector_table(corpus: Corpus) -> Table:
    table = plain_table()
    for heading in corpus.models:
        table.add_column(Text(heading), justify="center", no_wrap=True)
    table.add_column("tests", justify="right")
    table.add_column("such as", no_wrap=True)
    for vector, names in _vectors(corpus).items():
        letters = ["?" if verdict == Answer.UNKNOWN else verdict[0] for verdict in vector]
        table.add_row(*letters, str(len(names)), Text(names[0]))
    return table


def _listing(corpus: Corpus) -> Listing:
    def rows() -> Iterator[tuple[str, ...]]:
        for test in corpus.tests:
            yield test.name, *(_said(test, model) for model in corpus.models)

    return Listing(plain_table("test", *corpus.models), rows)


def summary(corpus: Corpus, list_tests: bool) -> dict[str, Any]:
    """The same as data."""
    models = corpus.models
    sizes = Counter(test.size for test in corpus.tests)
    shapes = Counter(map(shape, corpus.tests))
    found: dict[str, Any] = {
        "complete": corpus.complete,
        "request": corpus.manifest.get("request", {}),
        "tests": len(corpus.tests),
        "sizes": {str(size): count for size, count in sorted(sizes.items())},
        "families": {name: shapes[name] for name in counts_by_shape(corpus)},
        "models": {model: {answer: _verdicts(corpus, model)[answer] for answer in Answer} for model in models},
        "pairs": [
            {"allows": allows, "forbids": forbids, "tests": _telling(corpus, allows, forbids)}
            for allows, forbids in permutations(models, 2)
        ],
        "vectors": [
            {"verdicts": dict(zip(models, vector, strict=True)), "tests": len(names), "example": names[0]}
            for vector, names in _vectors(corpus).items()
        ],
    }
    if any(map(axioms, corpus.tests)):
        found["events"] = {str(size): row for size, row in counts_by_size(corpus).items()}
    if list_tests:
        found["list"] = [
            {
                "name": test.name,
                "size": test.size,
                "family": shape(test),
                "verdicts": {model: _said(test, model) for model in models},
            }
            for test in corpus.tests
        ]
    return found
