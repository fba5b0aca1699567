"""Which model is less fair than which, and the arithmetic of Table 4 of Sorensen et al. 2021."""

import pytest
from hypothesis import given, settings
from strategies import programs

from corpus.progress.idioms import idioms
from oracle.progress.hierarchy import TABLE_4, at_most_as_fair, border, census, conforms, kind, strictly_less_fair
from oracle.progress.models import GUARANTEES, MODELS, both_readings, verdicts
from oracle.progress.plugins import resolve_models, shipped_model

LESS_FAIR = strictly_less_fair(MODELS.values())


def test_the_order_of_guarantees():
    order = {(a, b) for a, f in GUARANTEES.items() for b, g in GUARANTEES.items() if a != b and at_most_as_fair(f, g)}
    chain = ["unfair", "hsa+obe", "lobe", "fair"]
    expected = {(a, b) for i, a in enumerate(chain) for b in chain[i + 1 :]}
    expected |= {("unfair", "hsa"), ("unfair", "obe")}
    expected |= {(a, b) for a in ("hsa", "obe") for b in chain[1:]}
    assert order == expected


def test_weak_is_less_fair_than_strong_but_not_across_guarantees():
    assert set(LESS_FAIR["obe-strong"]) == {"unfair-weak", "unfair-strong", "obe-weak"}
    assert set(LESS_FAIR["lobe-weak"]) == {"unfair-weak", "unfair-strong", "hsa-weak", "obe-weak", "hsa+obe-weak"}
    assert set(LESS_FAIR["fair-strong"]) == set(MODELS) - {"fair-strong"}
    assert LESS_FAIR["unfair-weak"] == ()


def test_a_model_of_ones_own_finds_its_place():
    def highest(running, stepped):
        return 1 << running.bit_length() >> 1

    weak, _ = both_readings("highest", highest)
    found = strictly_less_fair([*MODELS.values(), weak])
    assert found["highest-weak"] == ("unfair-weak", "unfair-strong")
    assert [name for name, lesser in found.items() if "highest-weak" in lesser] == ["fair-weak", "fair-strong"]


def published(weak: dict[str, int], strong: dict[str, int]) -> list[dict[str, str]]:
    """A suite with the given cells of Table 4: a test passes under its guarantee and all fairer ones."""
    above = {"hsa": ["hsa", "hsa+obe", "lobe", "fair"], "obe": ["obe", "hsa+obe", "lobe", "fair"]}
    above |= {"lobe": ["lobe", "fair"], "fair": ["fair"]}
    suite = []
    for readings, cells in ((("weak", "strong"), weak), (("strong",), strong)):
        for guarantee, count in cells.items():
            passed = {f"{name}-{reading}" for name in above[guarantee] for reading in readings}
            suite += [{model: "TERMINATES" if model in passed else "MAY_HANG" for model in MODELS}] * count
    return suite


def test_the_arithmetic_of_the_published_table():
    suite = published({"hsa": 90, "obe": 12, "lobe": 20, "fair": 201}, {"hsa": 94, "obe": 0, "lobe": 16, "fair": 50})
    counts = census(suite, list(MODELS), MODELS)
    assert counts.tests == 483
    conformance = {r: [counts.table_4_conformance(r, g) for g in TABLE_4] for r in ("weak", "strong")}
    assert conformance == {"weak": [90, 12, 122, 323], "strong": [94, 0, 110, 160]}
    assert [counts.distinguishing[f"{g}-weak"] for g in TABLE_4] == [90, 12, 20, 201]
    assert [counts.conformance[f"{g}-weak"] for g in TABLE_4] == [90, 12, 122, 323]
    assert counts.distinguishing["fair-strong"] == 50


def test_kinds_and_borders_of_the_idioms():
    found = {name: border(verdicts(program)) for name, program in idioms().items()}
    assert found["prodcons-increasing"] == ("weak", "hsa")
    assert found["mutex"] == ("weak", "obe")
    assert found["prodcons-decreasing"] == ("weak", "fair")
    assert found["philosophers-simplified"] == ("strong", "hsa")
    assert kind(dict.fromkeys(MODELS, "MAY_HANG")) is None
    assert kind({}) is None and border({}) is None
    assert kind({"fair-weak": "UNKNOWN", "fair-strong": "UNKNOWN"}) is None


@settings(deadline=None)
@given(programs(longest=3))
def test_what_a_less_fair_model_passes_a_fairer_one_passes(program):
    found = verdicts(program)
    for model, lesser in LESS_FAIR.items():
        for name in lesser:
            assert conforms(found, model) or not conforms(found, name), (name, model)


@settings(deadline=None)
@given(programs(longest=3))
def test_conformance_is_the_union_of_distinguishing(program):
    found = verdicts(program)
    counts = census([found], list(MODELS), MODELS)
    for model, lesser in LESS_FAIR.items():
        below = [counts.distinguishing[name] for name in (model, *lesser)]
        assert counts.conformance[model] == max(below)


def test_unknown_verdicts_neither_conform_nor_distinguish():
    vector = dict.fromkeys(MODELS, "TERMINATES") | {"obe-weak": "UNKNOWN"}
    counts = census([vector], list(MODELS), MODELS)
    assert counts.conformance["obe-weak"] == 0
    assert counts.distinguishing["lobe-weak"] == 0


def test_models_whose_guarantee_is_not_known_are_counted_but_not_placed():
    counts = census([{"mine-weak": "TERMINATES"}], ["mine-weak"], MODELS)
    assert counts.conformance == {"mine-weak": 1}
    assert counts.distinguishing == {} and counts.table_4 == {}


def test_composed_models_have_their_place_in_the_order():
    """More promised at any level is fairer; what is promised to nobody at the outermost level is the least fair."""
    names = [
        "fair",
        "fair@workgroup & fair@subgroup",
        "lobe@workgroup & hsa@subgroup",
        "hsa@workgroup & hsa@subgroup",
        "hsa@workgroup & unfair@subgroup",
        "unfair@workgroup & fair@subgroup",
    ]
    models = [model for model in resolve_models(names) if not model.strong]
    below = strictly_less_fair(models)
    weak = [model.name for model in models]
    assert weak[0] not in below[weak[1]] and weak[1] not in below[weak[0]]  # threads of a subgroup are fair there
    assert set(below[weak[0]]) >= set(weak[2:]) and set(below[weak[1]]) >= set(weak[2:])
    assert weak[4] in below[weak[3]] and weak[5] in below[weak[4]]
    assert weak[3] in below[weak[2]]
    inner = [model for model in resolve_models(["fair@cta & hsa@warp", "fair@cta & lobe@warp"]) if not model.strong]
    assert not any(strictly_less_fair(inner).values()), "LOBE promises no certain subgroup of one that has not started"


@pytest.mark.parametrize("name", ["fair-weak", "hsa@workgroup & obe@subgroup-strong", "obe@cta-weak"])
def test_models_of_full_names_that_ship(name):
    assert shipped_model(name).name == name
    assert shipped_model(f"mine@workgroup & {name.partition(' & ')[2] or 'obe@subgroup-weak'}") is None
