"""How models stand to each other: in words, as data, and as a picture."""

import json
from itertools import permutations
from xml.etree import ElementTree

import pytest

from synth.commands.compare import ordering_table
from synth.drawing.order import draw, draw_dot
from synth.memory.ordering import (
    ModelRelation,
    ModelSearch,
    Ordering,
    difference_text,
    ordering_record,
)
from synth.screen.console import table_console

SIZES = {"CoRR": 3, "SB": 4, "MP": 4, "LB": 4, "MP+fences": 6}
ALLOWED = {
    "sc": set(),
    "mine": set(),
    "tso": {"SB"},
    "pso": {"SB", "MP"},
    "lb": {"SB", "LB"},
    "rmo": {"SB", "MP", "LB", "MP+fences"},
}


def ordering(allowed=ALLOWED, bound=6):
    """The ordering of models that allow such tests: what searches for the smallest would find."""
    searches = {}
    for one, other in permutations(allowed, 2):
        found = min(((SIZES[test], test) for test in allowed[one] - allowed[other]), default=None)
        searches[one, other] = ModelSearch(None, bound) if found is None else ModelSearch(found[1], found[0])
    return Ordering(tuple(allowed), searches, "R W F.sc")


def test_standings():
    found = ordering()
    assert found.standing("sc", "mine") is found.standing("mine", "sc") is ModelRelation.ALIKE
    assert found.standing("sc", "tso") is ModelRelation.STRONGER
    assert found.standing("tso", "sc") is ModelRelation.WEAKER
    assert found.standing("pso", "lb") is ModelRelation.INCOMPARABLE


def test_groups_and_the_next_weaker_of_each():
    found = ordering()
    assert found.groups() == [("sc", "mine"), ("tso",), ("pso",), ("lb",), ("rmo",)]
    covers = {cover: found.separating(*cover).test for cover in found.covers()}
    assert covers == {
        (("sc", "mine"), ("tso",)): "SB",
        (("tso",), ("pso",)): "MP",
        (("tso",), ("lb",)): "LB",
        (("pso",), ("rmo",)): "LB",
        (("lb",), ("rmo",)): "MP",
    }
    assert found.bound() == 6


def test_one_model_and_models_that_have_nothing_in_common():
    alone = ordering({"sc": set()})
    assert alone.groups() == [("sc",)] and alone.covers() == [] and alone.bound() == 0
    assert "sc" in draw(alone).svg()
    apart = ordering({"pso": {"MP"}, "lb": {"LB"}})
    assert apart.covers() == [] and apart.bound() == 4
    assert draw(apart).svg().count("<path d=") == draw(alone).svg().count("<path d=")


def test_searches_of_different_bounds_give_an_order_all_the_same():
    """What "no difference" says is then not transitive: those that are known to differ are drawn apart."""
    searches = {**dict.fromkeys(permutations("abc", 2), ModelSearch(None, 3)), ("a", "c"): ModelSearch("MP", 4)}
    found = Ordering(("a", "b", "c"), searches, "R W")
    assert found.standing("a", "b") is found.standing("b", "c") is ModelRelation.ALIKE
    assert found.standing("a", "c") is ModelRelation.WEAKER and found.bound() == 3
    assert found.groups() == [("a", "b"), ("c",)] and found.covers() == [(("c",), ("a", "b"))]

    found = Ordering(("a", "b", "c"), {**searches, ("b", "a"): ModelSearch("SB", 4)}, "R W")
    assert found.groups() == [("a",), ("b",), ("c",)] and found.covers() == [(("a",), ("b",)), (("c",), ("b",))]
    assert found.separating(("c",), ("b",)) == ModelSearch(None, 3)
    assert "none up to 3 events" in draw(found).svg()


def test_lines():
    found = ordering()
    assert difference_text(found, "sc", "mine") == "no difference up to 6 events over R W F.sc"
    other_way = "the other way none up to 6 events over R W F.sc"
    assert difference_text(found, "sc", "tso") == f"sc is stronger than tso: it forbids SB (4 events); {other_way}"
    assert difference_text(found, "rmo", "tso") == f"rmo is weaker than tso: it allows LB (4 events); {other_way}"
    assert (
        difference_text(found, "pso", "lb")
        == "pso is incomparable with lb: pso alone allows MP (4 events), lb alone LB (4 events)"
    )


def test_table(capsys):
    table_console().print(ordering_table(ordering({name: ALLOWED[name] for name in ("sc", "mine", "tso", "pso")})))
    rows = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert rows == [
        "model model the first alone allows the second alone allows",
        "sc no difference from mine none up to 6 events none up to 6 events",
        "sc stronger than tso none up to 6 events SB (4 events)",
        "sc stronger than pso none up to 6 events MP (4 events)",
        "mine stronger than tso none up to 6 events SB (4 events)",
        "mine stronger than pso none up to 6 events MP (4 events)",
        "tso stronger than pso none up to 6 events MP (4 events)",
    ]


def test_record():
    record = json.loads(json.dumps(ordering_record(ordering())))
    assert record["models"] == list(ALLOWED) and record["vocabulary"] == "R W F.sc"
    assert len(record["searches"]) == 30
    assert {"allowed_by": "tso", "forbidden_by": "sc", "test": "SB", "events": 4} in record["searches"]
    assert {"allowed_by": "sc", "forbidden_by": "tso", "test": None, "events": 6} in record["searches"]
    assert {"models": ["sc", "mine"], "standing": "alike"} in record["pairs"]
    assert record["groups"][0] == ["sc", "mine"]
    assert {"stronger": ["tso"], "weaker": ["lb"], "test": "LB"} in record["order"] and len(record["order"]) == 5


def test_pictures_are_the_same_each_time(golden):
    found = ordering()
    svg = draw(found).svg()
    assert svg == draw(ordering()).svg()
    texts = [node.text for node in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]
    assert {*ALLOWED, "SB", "MP", "LB", "Over R W F.sc."} <= set(texts)
    assert texts[0] == "Models by strength, up to 6 events"
    golden("compare/order.svg", svg)
    golden("compare/order.dot", draw_dot(found))


@pytest.mark.parametrize("name", ["<a & b>", 'a"b'])
def test_names_of_models_are_quoted(name):
    found = ordering({name: set(), "tso": {"SB"}})
    ElementTree.fromstring(draw(found).svg())
    assert name.replace('"', '\\"') in draw_dot(found)
