"""Verdicts of herd7 on our own models and tests, kept in a table: what it says of each part of its language, we say.

tests/device/test_herd7.py holds the table against herd7 itself, and writes it anew with ``pytest --promote``.
"""

import pytest
from herd7_verdicts import MODELS, TABLE, TESTS, said_here, table

from corpus.dialects.registry import read_litmus
from oracle.consistency import load_model


@pytest.mark.parametrize("step", [pytest.param(1, marks=pytest.mark.slow), 4])
def test_the_verdicts_are_those_of_herd7(step):
    tests = [read_litmus(path) for path in TESTS[::step]]

    def said(path):
        model = load_model(str(path))
        return {test.name: said_here(test, model) for test in tests}

    ours = table(said).splitlines()
    kept = TABLE.read_text("utf-8").splitlines()
    assert len(kept) == 1 + len(MODELS) * len(TESTS)
    names = {test.name for test in tests}
    assert ours == [kept[0], *(line for line in kept[1:] if line.split(",")[1] in names)]


def test_the_table_is_of_all_kinds_of_models():
    syntax = {path.stem: load_model(str(path)).syntax for path in MODELS}
    assert all(found.one_event for found in syntax.values())
    assert [name for name, found in syntax.items() if found.over_members] == ["members"]
