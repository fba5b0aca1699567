"""Mutants of models: each is a model, and differs from its parent in one place."""

from collections import Counter
from difflib import SequenceMatcher

import pytest
from litmus_models import LARGE
from model_mutants import model_text, mutants, mutants_of

from oracle.cat.syntax import parse_cat, read_cat, shipped_models
from oracle.consistency import load_model


@pytest.mark.one_in(3)
@pytest.mark.parametrize("model", [pytest.param(name, marks=LARGE.get(name, ())) for name in shipped_models()])
def test_every_mutant_is_a_model_of_its_own(model, tmp_path):
    parent = model_text(read_cat(shipped_models()[model]))
    assert model_text(parse_cat(parent, "parent.cat")) == parent
    found = mutants(model)
    assert found == mutants(model) and len(found) >= 12
    assert len({mutant.label for mutant in found}) == len({mutant.text for mutant in found}) == len(found)
    for mutant in found[:: 1 + len(found) // 100]:
        path = tmp_path / "mutant.cat"
        path.write_text(mutant.text, encoding="utf-8")
        loaded = load_model(str(path))
        assert model_text(loaded.syntax) == mutant.text != parent
        assert "include" not in mutant.text


@pytest.mark.one_in(3)
@pytest.mark.parametrize("model", shipped_models())
def test_a_mutant_differs_in_one_line(model):
    parent = model_text(read_cat(shipped_models()[model])).splitlines()
    for mutant in mutants(model):
        steps = SequenceMatcher(None, parent, mutant.text.splitlines(), autojunk=False).get_opcodes()
        ((_, start, end, to_start, to_end),) = [step for step in steps if step[0] != "equal"]
        assert end - start == 1 and to_end - to_start == (mutant.slip != "axiom")


def slips(text):
    found = mutants_of(parse_cat(text, "a.cat"), "a.cat")
    return [(mutant.slip, mutant.label.partition(": ")[2], mutant.text.splitlines()[1:]) for mutant in found]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("empty co+ as a", [("closure", "co^+ -> co")]),
        ("empty co* as a", [("closure", "co^* -> co")]),
        ("empty co? as a", [("closure", "co? -> co")]),
        ("empty rf | (co | fr) as a", [("operand", "co | fr"), ("operand", "rf | fr"), ("operand", "rf | co")]),
        ("empty co \\ rf as a", [("operand", "co \\ rf -> co")]),
        ("empty incl & co as a", [("test", "incl & co -> co"), ("link", "incl & co -> incl")]),
        ("empty [W]; co as a", [("test", "[W]; co -> co"), ("link", "[W]; co -> [W]")]),
        ("empty W & SC as a", [("test", "W & SC -> SC"), ("test", "W & SC -> W")]),
        ("empty _ * R as a", [("test", "_ * R -> _ * _")]),
        ("empty fre as a", [("test", "fre -> fr")]),
        ("empty RW(po) as a", [("test", "RW(po) -> po")]),
        ("flag ~empty co+ as a", []),
    ],
)
def test_slips(line, expected):
    found = [slip for slip in slips(line) if slip[0] != "axiom"]
    assert [slip for slip, _, _ in found] == [slip for slip, _ in expected]
    assert all(label.endswith(told) for (_, label, _), (_, told) in zip(found, expected, strict=True))
    assert all(text == [f"empty {label.partition(' -> ')[2]} as a"] for _, label, text in found)


def test_names_of_sets_and_lines_that_no_axiom_needs():
    text = "let strong = RLX | SC let used = [W & strong]; po let unused = co+ acyclic used as order"
    counts = Counter(slip for slip, _, _ in slips(f"{text} flag ~empty unused as raised"))
    assert counts == {"axiom": 1, "operand": 2, "test": 3, "link": 1}


def test_recursion_is_printed_and_read_again():
    text = 'let rec a = rf | (b; a) and b = a | co\nacyclic a as "by hand"\n'
    printed = model_text(parse_cat(f"with co from partial-co\n{text}", "rec.cat"))
    assert printed == f'"rec"\nwith co from partial-co\n{text}'
    assert model_text(parse_cat(printed, "rec.cat")) == printed
