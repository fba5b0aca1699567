"""Models that are found again: TSO from what was published of x86, Power from its cycles, planted ones by asking."""

import csv
import random
from functools import cache
from pathlib import Path

import pytest
from commands import printed, synth
from planted import found_in, judged, planted_models, shuffled, verdicts_by_asking

from corpus.dialects.registry import read_litmus
from oracle.inference.fitting import Fact, fewest_violations, fitting, smallest_core
from oracle.inference.resolution import resolve_sketch
from oracle.inference.verdicts import allowing

SLOW = [pytest.param(sketch, marks=pytest.mark.slow) for sketch in ("c11", "power", "gpu")]
FACTS = Path(__file__).parents[2] / "examples" / "inference"


@cache
def named(sketch):
    """The sketch of a name, one object whose sets of models can be compared."""
    return resolve_sketch(sketch)


@cache
def table(folder, sketch):
    """The tests of a table, with whether each is allowed, and the models that allow it."""
    with (FACTS / folder / "tests.csv").open(encoding="utf-8", newline="") as file:
        rows = [(row["file"], row["verdict"] == "ALLOWED") for row in csv.DictReader(file)]
    return [(name, allowed, allowing(read_litmus(FACTS / folder / name), sketch)) for name, allowed in rows]


def facts_of(folder, sketch, flipped=""):
    """The facts of a table, of which one may be turned round."""
    for name, allowed, models in table(folder, sketch):
        said = allowed != (name == flipped)
        yield Fact(name, said, models if said else sketch.valid - models)


def varying(sketch, models):
    """What fills each hole that the models of a set fill differently, and the one filling of all others."""
    fillings = list(sketch.fillings(models))
    choices = {hole.name: {each[place] for each in fillings} for place, hole in enumerate(sketch.holes)}
    return (
        {name for name, found in choices.items() if len(found) > 1},
        {name: min(found) for name, found in choices.items() if len(found) == 1},
    )


def test_what_was_published_of_x86_is_tso():
    sketch = named("cpu")
    models = fitting(sketch.valid, list(facts_of("x86", sketch)))
    open_holes, decided = varying(sketch, models)
    assert decided == {"ww": 1, "wr": 0, "rw": 1, "rr": 1, "sync": 1, "locked": 1, "rf": 1}
    # Dependencies are kept with the program order that is kept, and no test of the table has fences other than mfence.
    implied = {"llh", "addr", "data", "ctrl-w", "ctrl-r", "a-cumul", "b-cumul", "thin-air"}
    assert open_holes == implied | {"lwsync"}


def test_a_verdict_of_x86_that_is_flipped_is_in_the_core():
    sketch = named("cpu")
    names = [fact.name for fact in facts_of("x86", sketch)]
    accused = 0
    for name in names:
        facts = list(facts_of("x86", sketch, name))
        core = [fact.name for fact in smallest_core(sketch.valid, facts)]
        least = fewest_violations(sketch.valid, facts)
        assert name in core and len(core) <= 3 and least.number == 1
        accused += [fact.name for fact in least.violated] == [name]
        # The two tests of one program each accuse the other.
        assert {fact.name for fact in least.violated} in ({name}, set()), name
    assert accused == 32


@pytest.mark.slow
def test_cycles_and_tests_by_hand_are_power():
    sketch = named("power")
    (planted,) = (each for each in planted_models() if each.name == "power")
    values = sketch.values(planted.filling(sketch))
    tests = judged(sketch)
    models = found_in(sketch, tests, values)
    open_holes, _ = varying(sketch, models)
    assert open_holes == {"a-sync"}  # which sync is anyway, with all communication before it
    assert values in models and models <= fitting(sketch.valid, list(facts_of("power", sketch)))


@pytest.mark.parametrize("sketch", ["cpu", *SLOW])
def test_planted_models_are_found_again_by_asking(sketch):
    sketch = named(sketch)
    tests = judged(sketch)
    planted = [each for each in planted_models() if each.sketch == sketch.name]
    for each in planted:
        values = sketch.values(each.filling(sketch))
        models = found_in(sketch, tests, values)
        assert values in models
        by_chance = sorted(shuffled(sketch, tests, values, models, seed)[0] for seed in range(20))
        assert verdicts_by_asking(sketch, tests, values) * 2 < by_chance[10], each.name


@pytest.mark.parametrize("sketch", ["cpu", *SLOW])
def test_one_result_in_a_hundred_that_is_flipped_is_named_and_no_other(sketch):
    sketch = named(sketch)
    tests = judged(sketch)
    for each in (planted for planted in planted_models() if planted.sketch == sketch.name):
        values = sketch.values(each.filling(sketch))
        models = found_in(sketch, tests, values)
        for seed in range(3):
            flipped = set(random.Random(seed).sample(range(len(tests)), len(tests) // 100))
            facts = [
                Fact(test.name, said, test.allowing if said else sketch.valid - test.allowing)
                for number, test in enumerate(tests)
                for said in [(values in test.allowing) is (number not in flipped)]
            ]
            least = fewest_violations(sketch.valid, facts)
            assert [fact.name for fact in least.violated] == [tests[number].name for number in sorted(flipped)]
            assert least.models == models


# By the command


def test_infer_finds_tso_and_blames_a_verdict(tmp_path):
    found = printed("infer", "cpu", "--from", FACTS / "x86" / "tests.csv")
    assert "768 fit, and are one model up to 4 events" in found
    assert "no wr" in found and "rf: rfe" in found and "locked: po" in found
    flipped = (
        (FACTS / "x86" / "tests.csv")
        .read_text(encoding="utf-8")
        .replace("tso-n6.litmus,ALLOWED", "tso-n6.litmus,FORBIDDEN")
    )
    (tmp_path / "flipped.csv").write_text(flipped, encoding="utf-8")
    result = synth("infer", "cpu", "--from", tmp_path / "flipped.csv", "--tests", FACTS / "x86")
    assert result.exit_code == 1
    assert (
        "2 facts contradict each other" in result.output
        and "violate 1 fact:\n  x86tso-n6 is forbidden" in result.output
    )


@pytest.mark.slow
def test_infer_finds_power_from_its_cycles(tmp_path):
    power = FACTS.parent / "models" / "power.cat"
    for edges, count, bounds in (
        ("power", 1050, ("--size", "4..6")),
        ("power-ppo", 271, ("--size", "4..7", "--thread-accesses", 4)),
    ):
        told = printed(
            "memory", "--edges", f"@{FACTS / f'{edges}.edges'}", *bounds, "--model", power, "-o", tmp_path / edges
        )
        assert f" {count} tests of " in told
    suites = (tmp_path / "power", tmp_path / "power-ppo")
    sources, tests = ([word for path in suites for word in (option, path)] for option in ("--from", "--tests"))
    found = printed("infer", "power", *sources, "--from", FACTS / "power" / "tests.csv", "--column", "power")
    assert "2 fit, and are one model up to 4 events" in found and "either way: a-sync" in found
    labels = {}
    for path in suites:
        with (path / "labels.csv").open(encoding="utf-8", newline="") as file:
            labels |= {row["name"]: row["power"] for row in csv.DictReader(file)}
    labels["SB+membar.syss"] = "ALLOWED"
    lines = ["name,verdict", *(f"{name},{verdict}" for name, verdict in labels.items())]
    (tmp_path / "flipped.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    result = synth("infer", "power", "--from", tmp_path / "flipped.csv", *tests)
    assert result.exit_code == 1 and "violate 1 fact:\n  SB+membar.syss is allowed" in result.output
