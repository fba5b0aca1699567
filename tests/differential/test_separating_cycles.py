"""The models as clauses over cycles, held against the oracle's verdicts on the tests of all cycles."""

from functools import cache
from pathlib import Path

import pytest

from constraints.cycles import CycleBounds, cycles
from constraints.loop import SolverEffort
from constraints.programs.separating import divisions, separating_cycles
from corpus.cycles.cycle import cycle_name, litmus_test, oriented
from corpus.cycles.edges import parse_edges
from corpus.litmus.locations import Region
from oracle.consistency import load_model, resolve_consistency_models
from oracle.executions.judge import Answer, judge

PLAIN = "PodWW PodRR PodRW PodWR Rfe Fre Coe"
FENCES = "MembarGldWW MembarGldRR MembarGldWR MembarCtadWW"
BOTH = (Region.GLOBAL, Region.SHARED)

ALPHABETS = {
    "plain": (PLAIN, (3, 4, 5), {}),
    "fences": (f"{PLAIN} {FENCES}", (3, 4), {"levels": ("cta",)}),
    "orders": ("PodWW PodRR PosRR Rfe Fre Rlx.cta Rel.cta Acq.cta Plain", (3, 4), {"levels": ("cta",)}),
    "pattern": ("PodWW PodRR Coi Rfe Fre Rel.gpu Acq.gpu Rlx.gpu Plain", (5,), {"thread_accesses": 4}),
    "inner": ("PodWW PodRR Rfi Fri Coi PosRW PosWW Rfe Fre Coe", (3, 4), {"thread_accesses": 3}),
    "atomics": ("Rmw PodRR PodWW PodWR Rfe Fre Coe Rlx.gpu Acq.gpu Rel.cta Plain", (4,), {"location_accesses": 4}),
    "observers": ("Rmw PodRR PosWW Rfe Fre Coe Rlx.gpu", (3, 4), {"levels": ("gpu",), "location_accesses": 4}),
    "dependencies": ("DpAddrdR DpAddrdW DpDatadW DpCtrldW DpCtrldR Rmw PodWW MembarGldWR Rfe Fre", (4,), {}),
    "regions": ("PodWW PodRR DpDatadW Rfe Fre Coe Vol Ca", (3, 4), {"regions": BOTH, "levels": ("cta",)}),
    "compositions": ("PodWW MembarGldRR Rfe Fre Coe Coi", (4,), {"compositions": True, "thread_accesses": 3}),
    "places": ("PodRR MembarGldWW FenceSc.cta.dWR Rfe Fre", (4, 5), {"levels": ("cta", "gpu")}),
}

NAMES = ("sc", "tso", "rmo", "ptx-rmo", "ptx-6.0", "rc11-scoped")

PAIRS = [(one, (one + step) % len(NAMES)) for one in range(len(NAMES)) for step in (1, 3)]
"""Each model with two others, either way round."""

# What one execution of an outcome shows, and another does not: fences one after the other, and writes unordered.
FENCES_IN_LINE = "acyclic po | rf | sync_fence as line"
WRITES_IN_LINE = "with co from partial-co\nacyclic po | rf | co as line"


@cache
def models():
    return {model.name: model.model for model in resolve_consistency_models(NAMES)}


def found(bounds, size, allowed_by, forbidden_by, effort=None):
    names = [
        cycle_name(oriented(cycle))
        for division in divisions(bounds, size)
        for cycle in separating_cycles(bounds, division, allowed_by, forbidden_by, effort=effort)
    ]
    assert len(names) == len(set(names))
    return set(names)


def judged(bounds, size, asked):
    """By name, the verdicts on the test of each cycle."""
    for cycle in map(oriented, cycles(bounds, size)):
        test = litmus_test(cycle)
        yield test.name, [judge(test, model).answer for model in asked]


@pytest.mark.one_in(6)
@pytest.mark.parametrize("name", ALPHABETS)
def test_the_clauses_give_the_cycles_that_the_oracle_separates(name):
    edges, sizes, options = ALPHABETS[name]
    bounds = CycleBounds(parse_edges(edges), **options)
    count = 0
    for size in sizes:
        said = list(judged(bounds, size, models().values()))
        count += len(said)
        for one, other in PAIRS:
            allowed, forbidden = (models()[NAMES[number]] for number in (one, other))
            wanted = {test for test, verdicts in said if verdicts[one] == Answer.ALLOWED != verdicts[other]}
            given = found(bounds, size, [allowed], [forbidden])
            assert given == wanted, (NAMES[one], NAMES[other], size)
    assert count


@pytest.mark.parametrize(
    ("text", "edges", "size"),
    [
        (FENCES_IN_LINE, "MembarGldWW MembarGldRR MembarGldRW PodRW Rfe Fre", 4),
        (WRITES_IN_LINE, "PodRW PodWW PodWR PodRR Rfe Fre Coe", 4),
        (WRITES_IN_LINE, "PodRW PodWW Coi Rfe Coe", 5),
    ],
)
def test_a_test_is_forbidden_where_all_its_executions_are(tmp_path, text, edges, size):
    (tmp_path / "line.cat").write_text(f'"Line"\n{text}\n')
    model = load_model(str(tmp_path / "line.cat"))
    bounds = CycleBounds(parse_edges(edges), thread_accesses=3)
    said = list(judged(bounds, size, [model]))
    effort = SolverEffort()
    forbidden = {name for name, (answer,) in said if answer == Answer.FORBIDDEN}
    assert found(bounds, size, [], [model], effort) == forbidden
    assert forbidden and effort.refinements
    assert found(bounds, size, [model], []) == {name for name, _ in said} - forbidden
    assert found(bounds, size, [model], [model]) == set()


def test_the_clauses_know_the_fence_after_a_branch():
    power, rmo = load_model(str(Path(__file__).parents[2] / "examples" / "models" / "power.cat")), models()["rmo"]
    edges = "PodRR PodWW DpCtrldR DpCtrldW DpCtrlIsyncdR DpCtrlIsyncdW FenceAcqRel.sys.dWW FenceSc.sys.dRW Rfe Fre Coe"
    bounds = CycleBounds(parse_edges(edges))
    said = list(judged(bounds, 4, [power, rmo]))
    for allowed, forbidden, wanted in (
        ([power], [rmo], ("ALLOWED", "FORBIDDEN")),
        ([rmo], [power], ("FORBIDDEN", "ALLOWED")),
    ):
        separated = {name for name, answers in said if tuple(answers) == wanted}
        assert found(bounds, 4, allowed, forbidden) == separated
        assert any("ctrlisync" in name for name in separated) == (wanted[0] == "FORBIDDEN")


def test_divisions_are_all_ways_into_threads():
    bounds = CycleBounds(parse_edges(PLAIN))
    assert list(divisions(bounds, 3)) == [(True, False, False), (False, True, False), (False, False, False)]
    every = [(a, b, c, False) for a in (True, False) for b in (True, False) for c in (True, False)]
    longer = CycleBounds(parse_edges(PLAIN), thread_accesses=4)
    assert set(divisions(longer, 4)) == set(every) - {(True, True, True, False)}
    assert list(divisions(CycleBounds(parse_edges(PLAIN), threads=(2, 2)), 4)) == [(True, False, True, False)]
    atomic = CycleBounds(parse_edges("Rmw Rfe Fre PodRR"))  # an atomic operation is two events and one access
    assert (True, True, True, False, False) in divisions(atomic, 5)
    assert len(next(divisions(bounds, 60))) == 60  # not all at once: there are a billion
