"""docs/models.md, the table of the models that ship, is what they, the tables of verdicts and the searches say.

``pytest --promote`` writes the row of a new model, and brings the others up to date but for their prose. The minimal
tests of the others are counted by the slow tests, which write them, too: ``pytest --promote -m slow``.
"""

import csv
import json
from collections import Counter
from itertools import accumulate
from pathlib import Path

import pytest
from click.testing import CliRunner

from oracle.cat.syntax import shipped_models
from oracle.catalogue import catalogue, first_sentence
from synth.commands.cli import main

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "models.md"
HEAD = "| model | what it is | source | words | stated | minimal |\n|---|---|---|---|---|---|\n"
WITHOUT_MODEL = {"mixed_proxies": ("ptx-7.5", "ptx"), "ptx_async": ("ptx-async",)}
"""Tables of verdicts that are stated of some models alike, or of a model and its readings."""


def parts():
    """The page before its table, the cells of each row by its model, and the page after it."""
    before, head, rest = PAGE.read_text(encoding="utf-8").partition(HEAD)
    table, end, after = rest.partition("\n\n")
    assert head and end
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
    return before, {row[0].strip("`"): row for row in rows}, end + after


def write(rows):
    before, _, after = parts()
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows.values())
    PAGE.write_text(before + HEAD + table + after, encoding="utf-8")


def stated():
    """How many verdicts of each model the tables of tests/verdicts have, by table."""
    found: dict[str, Counter[str]] = {}
    for path in sorted((ROOT / "tests" / "verdicts").glob("*.csv")):
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                for model in WITHOUT_MODEL.get(path.stem, [row.get("model")]):
                    if model and "verdict" in row:
                        found.setdefault(model, Counter())[path.stem] += 1
    return found


def said_of(counts):
    """``20: c11, rc11; 122: mixed_proxies``, of the verdicts of each table."""
    own = {name: count for name, count in counts.items() if name not in WITHOUT_MODEL}
    groups = [own] * bool(own) + [{name: counts[name]} for name in counts if name in WITHOUT_MODEL]
    return "; ".join(f"{sum(group.values())}: {', '.join(group)}" for group in groups)


def minimal(name, folder):
    """The number of minimal tests of a model up to 2, 3 and 4 events."""
    words = ["memory", "--from", name, "--events", "2..4", "-j", "1", "-o", str(folder / name)]
    made = CliRunner().invoke(main, words, catch_exceptions=False)
    assert made.exit_code == 0, made.output
    counts = Counter[int]()
    for bound, count in json.loads((folder / name / "manifest.json").read_text())["counts"]["bounds"].items():
        counts[int(bound.partition("x")[2])] += count
    return ", ".join(map(str, accumulate(counts[events] for events in (2, 3, 4))))


def test_each_model_has_a_row_with_its_words_and_verdicts(request, tmp_path):
    promote = request.config.getoption("--promote")
    entries = {entry.name: entry for entry in catalogue() if entry.family == "memory"}
    rows, tables = parts()[1], stated()
    due = {name: rows[name] for name in rows if name in entries}
    for name in [name for name in entries if name not in due] * promote:
        count = minimal(name, tmp_path) if entries[name].path else ""
        due[name] = [f"`{name}`", entries[name].says, first_sentence(entries[name].source), "", "", count]
    for name, row in due.items():
        due[name] = [*row[:3], entries[name].vocabulary, said_of(tables.get(name, {})), row[5]]
    if promote:
        write(due)
    assert parts()[1] == due and due.keys() == entries.keys(), "pytest --promote writes the table"


@pytest.mark.slow
@pytest.mark.parametrize("name", shipped_models())
def test_minimal_tests_are_as_many_as_the_page_says(name, request, tmp_path):
    rows, count = parts()[1], minimal(name, tmp_path)
    if request.config.getoption("--promote"):
        write(rows | {name: [*rows[name][:5], count]})
    assert parts()[1][name][5] == count, "if it should, run pytest --promote -m slow"
