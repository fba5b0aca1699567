"""The list of models that ship."""

import json

from commands import synth

from oracle.catalogue import catalogue, first_sentence
from oracle.consistency import model_names
from oracle.progress.models import MODELS


def test_every_model_that_ships_is_listed_with_its_source():
    entries = catalogue()
    assert sorted(entry.name for entry in entries if entry.family == "memory") == list(model_names())
    assert [entry.name for entry in entries if entry.family == "progress"] == list(MODELS)
    for entry in entries:
        assert entry.says and entry.source.endswith(".")
        assert bool(entry.vocabulary) == (entry.family == "memory")
    assert {entry.name: entry.vocabulary for entry in entries}["rc11"] == "c"


def test_a_sentence_ends_at_no_abbreviation():
    assert (
        first_sentence("Lustig et al. 2019: sections 3.3, Fig. 4. More. Text.")
        == "Lustig et al. 2019: sections 3.3, Fig. 4"
    )
    assert first_sentence("no stop") == "no stop"


def test_the_command_prints_a_table_or_json():
    shown = synth("models")
    assert shown.exit_code == 0 and "ptx-6.0" in shown.output and "hsa-weak" in shown.output
    listed = json.loads(synth("models", "--json").output)
    assert {each["name"] for each in listed} >= {"sc", "thesis-weak", "fair-strong"}
    assert set(listed[0]) == {"name", "family", "kind", "says", "source", "vocabulary", "path"}
