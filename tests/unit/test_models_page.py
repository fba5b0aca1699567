"""docs/models.md, the table of the models that ship, is in step with what ships and with the tables of verdicts."""

import csv
import re
from collections import Counter
from pathlib import Path

from oracle.catalogue import catalogue

ROOT = Path(__file__).parents[2]
ROW = re.compile(
    r"^\| `(?P<model>[\w.-]+)` \| [^|]+ \| (?P<words>[\w-]+) \| (?P<stated>[^|]*)\| [^|]*\|$", re.MULTILINE
)


def stated():
    """How many verdicts of each model the tables of tests/verdicts have, by table."""
    found: dict[str, Counter[str]] = {}
    for path in (ROOT / "tests" / "verdicts").glob("*.csv"):
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                models = [row.get("model")] if path.stem != "mixed_proxies" else ["ptx-7.5", "ptx"]
                for model in models:
                    if model and "verdict" in row:
                        found.setdefault(model, Counter())[path.stem] += 1
    return found


def test_each_model_has_a_row_with_its_words_and_verdicts():
    rows = {found["model"]: found for found in ROW.finditer((ROOT / "docs" / "models.md").read_text(encoding="utf-8"))}
    entries = {entry.name: entry for entry in catalogue() if entry.family == "memory"}
    assert rows.keys() == entries.keys()
    tables = stated()
    for name, row in rows.items():
        assert row["words"] == entries[name].vocabulary, name
        said = Counter[str]()
        for part in filter(None, row["stated"].strip().split("; ")):
            count, where = part.split(": ")
            counts = {table: tables[name][table] for table in where.split(", ")}
            assert int(count) == sum(counts.values()), (name, counts)
            said.update(counts)
        assert said == tables.get(name, Counter()), name
