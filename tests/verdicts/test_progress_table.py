"""Every verdict that Sorensen et al. 2021 states in words, with its page (progress.csv), held by the oracle."""

import csv
from pathlib import Path

import pytest

from corpus.progress.text import read_axb
from oracle.progress.models import MODELS, verdicts

HERE = Path(__file__).parent
EXAMPLES = HERE.parents[1] / "examples" / "progress"

with (HERE / "progress.csv").open(encoding="utf-8", newline="") as _file:
    TABLE = list(csv.DictReader(_file))


@pytest.mark.parametrize("row", TABLE, ids=lambda row: f"{row['file']}-{row['model']}")
def test_the_oracle_says_what_the_paper_says(row):
    program = read_axb(EXAMPLES / row["file"])
    assert verdicts(program, [MODELS[row["model"]]]) == {row["model"]: row["verdict"]}


def test_each_verdict_is_stated_once():
    keys = [(row["file"], row["model"]) for row in TABLE]
    assert len(keys) == len(set(keys))


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.axb")), ids=lambda path: path.name)
def test_an_example_names_its_source_and_only_fairness_ends_it(path):
    text = path.read_text(encoding="utf-8")
    assert text.startswith("//") and ("Fig." in text or "(" in text.partition("THREAD")[0])
    said = verdicts(read_axb(path))
    assert said["unfair-weak"] == said["unfair-strong"] == "MAY_HANG"
    assert said["fair-strong"] == "TERMINATES"
