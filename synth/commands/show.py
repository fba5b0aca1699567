"""``synth show``: tables and plots of a corpus."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from rich.table import Table
from rich.text import Text

from corpus.store import Corpus, read_corpus
from corpus.test import Test
from oracle.progress.hierarchy import TABLE_4, Census, census, conforms, distinguishes, strictly_less_fair
from oracle.progress.models import MODELS
from synth.drawing.files import check_picture_name, write_picture
from synth.memory.suite import is_memory_suite
from synth.screen import table_console


@click.command(name="show")
@click.argument("corpus", type=click.Path(path_type=Path))
@click.option("--tests", "list_tests", is_flag=True, help="List every test with the models it tests.")
@click.option(
    "--svg",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Draw the distribution: .svg, .pdf or .png.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
def command(corpus: Path, list_tests: bool, svg: Path | None, as_json: bool) -> None:
    """Show what is in a corpus of progress tests, or in a suite of memory tests.

    Of a suite of synth memory: what was asked, the tests by size and by family, how many every model allows, how many
    tell each two models apart, and which verdicts go together, with an example. Of a corpus of progress tests:

    \b
    Tests terminating  by bound and by tag, under each guarantee, weak/strong
    Models             distinguishing (D) and conformance (C) tests of each
    Table 4            the same as the paper counts: each test once, at the first of
                       HSA, OBE, LOBE and fair under which it terminates; weak tests
                       by weak models, strong tests by strong ones

    A test is a conformance test of a model if it terminates under it: a device that hangs on it does not implement the
    model. It is distinguishing if it also may hang under every model that is strictly less fair. A test is weak if it
    terminates under weak fairness, and strong if it does so under strong fairness only.

    --svg draws Table 4 as bars, Fig. 10 of "Specifying and Testing GPU Workgroup Progress Models" (OOPSLA 2021).

    \b
    Examples:
      synth show suite
      synth show suite --tests
      synth show suite --svg distribution.svg
      synth show suite --json | jq '.models["lobe-weak"]'
      synth show classic --json | jq '.models["ptx-rmo"].ALLOWED'
    """
    if svg:
        check_picture_name(svg)
    if is_memory_suite(corpus):
        from synth.memory.show import show

        if svg:
            raise click.UsageError("--svg draws progress tests")
        show(corpus, list_tests, as_json)
        return
    opened = read_corpus(corpus)
    models = opened.manifest.get("models", [])
    counts = census((test.verdicts for test in opened.tests), models, MODELS)
    if svg:
        from synth.drawing.figures import distribution_svg

        write_picture(svg, distribution_svg(counts.table_4))
    if as_json:
        click.echo(json.dumps(_summary(opened, models, counts, list_tests), indent=2))
        return
    console = table_console()
    state = "complete" if opened.manifest.get("complete") else "not complete"
    console.print(f"{corpus}: {len(opened.tests)} tests, {state}", markup=False)
    for table in _tables(opened.tests, models, counts):
        console.print()
        console.print(table)
    if list_tests:
        console.print()
        console.print(_listing(opened.tests, models))
    if svg:
        console.print(f"\nDistribution drawn in {svg}", markup=False)


def _tables(tests: Sequence[Test], models: Sequence[str], counts: Census) -> Iterator[Table]:
    if not tests:
        return
    yield _terminating(tests, models)
    yield _per_model(models, counts)
    if counts.table_4:
        yield _table_4(counts)


def _guarantees(models: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(model.rpartition("-")[0] for model in models))


def _readings(models: Sequence[str], guarantee: str) -> list[str]:
    return [f"{guarantee}-{reading}" for reading in ("weak", "strong") if f"{guarantee}-{reading}" in models]


def _terminating(tests: Sequence[Test], models: Sequence[str]) -> Table:
    table = Table("", box=None, pad_edge=False, header_style="bold", title="Tests terminating", title_justify="left")
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
"""How often each verdict vector occurs."""


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


def _per_model(models: Sequence[str], counts: Census) -> Table:
    cells = {model: (counts.distinguishing.get(model), counts.conformance[model]) for model in models}
    return _d_and_c("Models", _guarantees(models), cells)


def _table_4(counts: Census) -> Table:
    cells = {
        f"{guarantee}-{reading}": (
            counts.table_4.get((reading, guarantee), 0),
            counts.table_4_conformance(reading, guarantee),
        )
        for guarantee in TABLE_4
        for reading in ("weak", "strong")
    }
    return _d_and_c("Table 4", TABLE_4, cells)


def _d_and_c(title: str, guarantees: Iterable[str], cells: Mapping[str, tuple[int | None, int]]) -> Table:
    """Distinguishing and conformance tests by model name; a dash where they are not known."""
    table = Table("model", box=None, pad_edge=False, header_style="bold", title=title, title_justify="left")
    for heading in ("weak D", "weak C", "strong D", "strong C"):
        table.add_column(heading, justify="right")
    for guarantee in guarantees:
        row = [*cells.get(f"{guarantee}-weak", (None, None)), *cells.get(f"{guarantee}-strong", (None, None))]
        table.add_row(Text(guarantee), *("-" if cell is None else str(cell) for cell in row))
    return table


Roles = tuple[list[str], list[str]]
"""The models that a test is a conformance test and a distinguishing test of."""


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


def _listing(tests: Sequence[Test], models: Sequence[str]) -> Table:
    table = Table("test", "distinguishes", "terminates under", "tags", box=None, pad_edge=False, header_style="bold")
    for test, (conformance, distinguishing) in _roles(tests, models):
        words = (test.name, " ".join(distinguishing), " ".join(conformance), " ".join(test.tags))
        table.add_row(*map(Text, words))
    return table


def _summary(opened: Corpus, models: Sequence[str], counts: Census, list_tests: bool) -> dict[str, Any]:
    summary: dict[str, Any] = {
        "complete": bool(opened.manifest.get("complete")),
        "tests": len(opened.tests),
        "bounds": {bound: group.total() for bound, group in _by_bound(opened.tests).items() if bound != "all"},
        "tags": {tag: group.total() for tag, group in _by_tag(opened.tests).items()},
        "models": {
            model: {"conformance": counts.conformance[model], "distinguishing": counts.distinguishing.get(model)}
            for model in models
        },
        "table_4": {
            reading: {
                guarantee: {
                    "distinguishing": counts.table_4.get((reading, guarantee), 0),
                    "conformance": counts.table_4_conformance(reading, guarantee),
                }
                for guarantee in TABLE_4
            }
            for reading in ("weak", "strong")
        },
    }
    if list_tests:
        summary["list"] = [
            {
                "name": test.name,
                "conformance": conformance,
                "distinguishing": distinguishing,
                "tags": list(test.tags),
            }
            for test, (conformance, distinguishing) in _roles(opened.tests, models)
        ]
    return summary
