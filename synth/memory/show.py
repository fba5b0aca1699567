"""``synth show`` for suites of memory tests: what was asked, what there is, and what the models say."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations
from pathlib import Path
from typing import Any

import click
from rich.table import Table
from rich.text import Text

from oracle.executions.judge import Answer
from synth.memory.suite import OTHER, Row, Suite, read_suite
from synth.screen import table_console


def show(folder: Path, list_tests: bool, as_json: bool) -> None:
    """Print what is in a suite. Raises ``InputError`` where something in it cannot be read."""
    suite = read_suite(folder)
    if as_json:
        click.echo(json.dumps(_summary(suite, list_tests), indent=2))
        return
    console = table_console()
    console.print(f"{folder}: {len(suite.rows)} tests, {suite.state}", markup=False)
    for title, table in _tables(suite, list_tests):
        console.print()
        console.print(title, style="italic")
        console.print(table)


def _tables(suite: Suite, list_tests: bool) -> Iterator[tuple[str, Table]]:
    """Titles and tables."""
    yield "Asked for", _asked(suite.manifest.get("request", {}))
    if not suite.rows:
        return
    yield "Tests, and how many of them each model allows" if suite.models else "Tests", _allowed(suite)
    if suite.models:
        yield "Models", _per_model(suite)
    if len(suite.models) > 1:
        yield "Tests that the model of the row allows and that of the column forbids", _pairs(suite)
        yield "Verdicts that go together: A allowed, F forbidden, ? no verdict", _vectors(suite)
    if list_tests:
        yield "Every test", _listing(suite)


def _table(*columns: str) -> Table:
    return Table(*columns, box=None, pad_edge=False, header_style="bold")


def _asked(request: Mapping[str, Any]) -> Table:
    """The request without what was not asked for."""
    table = Table(box=None, pad_edge=False, show_header=False)
    least, most = request.get("sizes", ("?", "?"))
    said = {**request, "sizes": least if least == most else f"{least}..{most}"}
    for name, value in said.items():
        if name != "kind" and value:
            text = ", ".join(value) if isinstance(value, list) else str(value).lower() if value is True else str(value)
            table.add_row(Text(name.replace("_", " ")), Text(text))
    return table


def _allowed(suite: Suite) -> Table:
    """Tests by size and by family, and of each how many every model allows."""
    table = _table("")
    for heading in ("tests", *suite.models):
        table.add_column(Text(heading), justify="right", no_wrap=True)
    sizes = sorted({row.size for row in suite.rows})
    groups = {f"size {size}": [row for row in suite.rows if row.size == size] for size in sizes}
    for heading, rows in groups.items() if len(sizes) > 1 else ():
        table.add_row(heading, *_allowed_counts(suite, rows))
    table.add_row("all", *_allowed_counts(suite, suite.rows))
    table.add_section()
    for name in _families(suite):
        table.add_row(Text(name), *_allowed_counts(suite, [row for row in suite.rows if row.family == name]))
    return table


def _allowed_counts(suite: Suite, rows: Sequence[Row]) -> list[str]:
    allowed = [sum(row.verdicts[place] == Answer.ALLOWED for row in rows) for place in range(len(suite.models))]
    return [str(count) for count in (len(rows), *allowed)]


def _families(suite: Suite) -> dict[str, int]:
    """The number of tests of each family, most frequent first, those without a name last."""
    counts = Counter(row.family for row in suite.rows)
    return dict(sorted(counts.items(), key=lambda item: (item[0] == OTHER, -item[1], item[0])))


def _per_model(suite: Suite) -> Table:
    said = {model: suite.verdicts(model) for model in suite.models}
    answers = [answer for answer in Answer if any(counts[answer] for counts in said.values())]
    table = _table("model")
    for answer in answers:
        table.add_column(answer.lower(), justify="right")
    for model, counts in said.items():
        table.add_row(Text(model), *(str(counts[answer]) for answer in answers))
    return table


def _pairs(suite: Suite) -> Table:
    table = _table("")
    for model in suite.models:
        table.add_column(Text(model), justify="right", no_wrap=True)
    for allows in suite.models:
        cells = ["" if allows == forbids else str(suite.telling(allows, forbids)) for forbids in suite.models]
        table.add_row(Text(allows), *cells)
    return table


def _vectors(suite: Suite) -> Table:
    table = _table()
    for heading in suite.models:
        table.add_column(Text(heading), justify="center", no_wrap=True)
    table.add_column("tests", justify="right")
    table.add_column("such as", no_wrap=True)
    for vector, names in suite.vectors().items():
        letters = ["?" if verdict == Answer.UNKNOWN else verdict[0] for verdict in vector]
        table.add_row(*letters, str(len(names)), Text(names[0]))
    return table


def _listing(suite: Suite) -> Table:
    table = _table("test", *suite.models)
    for row in suite.rows:
        table.add_row(Text(row.name), *map(Text, row.verdicts))
    return table


def _summary(suite: Suite, list_tests: bool) -> dict[str, Any]:
    models = suite.models
    summary: dict[str, Any] = {
        "complete": suite.manifest.get("complete") is True,
        "request": suite.manifest.get("request", {}),
        "tests": len(suite.rows),
        "sizes": {str(size): count for size, count in sorted(Counter(row.size for row in suite.rows).items())},
        "families": _families(suite),
        "models": {model: {answer: suite.verdicts(model)[answer] for answer in Answer} for model in models},
        "pairs": [
            {"allows": allows, "forbids": forbids, "tests": suite.telling(allows, forbids)}
            for allows, forbids in permutations(models, 2)
        ],
        "vectors": [
            {"verdicts": dict(zip(models, vector, strict=True)), "tests": len(names), "example": names[0]}
            for vector, names in suite.vectors().items()
        ],
    }
    if list_tests:
        summary["list"] = [
            {
                "name": row.name,
                "size": row.size,
                "family": row.family,
                "verdicts": dict(zip(models, row.verdicts, strict=True)),
            }
            for row in suite.rows
        ]
    return summary
