"""Verdicts on tests that the synthesis makes of cycles: those that papers state, and what follows for every cycle.

``cycles.csv`` names a test by its edges and its scope tree. The rules below it say of whole suites which tests a model
allows, from the edges and the tree alone: where every edge is ordered there is a cycle, where one is not there is none.
"""

import csv
from functools import cache
from pathlib import Path

import pytest

from constraints.cycles import CycleBounds, cycles
from corpus.cycles.cycle import cycle_name, litmus_test, oriented
from corpus.cycles.edges import parse_edges
from oracle.consistency import resolve_consistency_models
from oracle.executions.judge import Answer

with Path(__file__).with_name("cycles.csv").open(encoding="utf-8", newline="") as file:
    TABLE = list(csv.DictReader(file))

CLASSIC = "PodWW PodRR PodRW PodWR Rfe Fre Coe"
DEPENDENCIES = "DpAddrdR DpAddrdW DpDatadW DpCtrldR DpCtrldW"
TREE = ("cta", "gpu")


@cache
def model(name):
    return resolve_consistency_models([name])[0]


def tree(name):
    """The scope tree that a test's name ends in."""
    count = len(name.replace("-", ""))
    return f"@{name}" if name != "-".join(map(str, range(count))) else ""


@pytest.mark.parametrize("row", TABLE, ids=lambda row: f"{row['edges']}@{row['tree']}-{row['model']}")
def test_what_the_papers_say_of_a_cycle(row):
    words = row["edges"].split()
    bounds = CycleBounds(parse_edges(f"[{','.join(words)}]"), TREE, thread_accesses=3)
    found = [oriented(cycle) for cycle in cycles(bounds, len(words))]
    (cycle,) = [cycle for cycle in found if cycle_name(cycle).partition("@")[2] == tree(row["tree"])[1:]]
    assert model(row["model"]).judge(litmus_test(cycle)).answer == row["verdict"], row["source"]


def test_each_verdict_is_stated_once_and_with_its_source():
    stated = [(row["edges"], row["tree"], row["model"]) for row in TABLE]
    assert len(stated) == len(set(stated))
    assert all(" et al. 20" in row["source"] for row in TABLE)


# Rules


def suite(text, sizes, **bounds):
    bounds = CycleBounds(parse_edges(text), **bounds)
    for size in sizes:
        for cycle in cycles(bounds, size):
            yield oriented(cycle)


def follows(name, found, allows):
    """Whether a model allows exactly the tests that ``allows`` says, and both answers occur."""
    said = {True: 0, False: 0}
    for cycle in found:
        judgement = model(name).judge(litmus_test(cycle))
        allowed = bool(allows(cycle))
        assert judgement.answer is (Answer.ALLOWED if allowed else Answer.FORBIDDEN), cycle_name(cycle)
        said[allowed] += 1
    assert said[True] and said[False], said


def atomic(cycle, event):
    return "Rmw" in (cycle.edges[event].kind, cycle.edges[event - 1].kind)


def test_tso_allows_what_reorders_a_write_with_a_later_read():
    """Lustig et al. 2019, Fig. 2: ppo is po but store to load; a fence or an atomic operation orders that as well.

    So of the classic families TSO allows SB and R, RWC, WRW+WR, and those of six edges with a PodWR.
    """
    fences = "MembarGldWR FenceAcqRel.cta.dWR MembarCtadRR"
    found = [*suite(f"{CLASSIC} DpAddrdR {fences} Rmw", (4, 5)), *suite(CLASSIC, (6,))]

    def allowed(cycle):
        return any(
            edge.name == "PodWR" and not atomic(cycle, event) and not atomic(cycle, (event + 1) % cycle.size)
            for event, edge in enumerate(cycle.edges)
        )

    follows("tso", found, allowed)
    plain = {cycle_name(cycle) for cycle in suite(CLASSIC, (4, 5)) if allowed(cycle)}
    assert plain == {"SB", "R", "RWC", "WRW+WR"}


def test_rmo_allows_what_has_a_plain_step():
    """Alglave et al. 2015, sec. 5.2.2: any pair to different locations, unless a dependency or a fence is between."""
    found = [*suite(f"{CLASSIC} {DEPENDENCIES} MembarGldWW MembarCtadWR MembarSysdRR", (4, 5)), *suite(CLASSIC, (6,))]
    follows("rmo", found, lambda cycle: any(edge.kind == "Po" for edge in cycle.edges))


def test_rmo_per_scope_asks_for_fences_as_wide_as_the_cycle():
    """Alglave et al. 2015, Fig. 16: within a CTA every fence counts, within a GPU membar.gl and wider, else .sys."""
    fences = "MembarCtadWW MembarGldWW MembarSysdWW MembarCtadRR MembarGldRR MembarSysdRR MembarGldWR"
    found = [
        *suite(f"Rfe Fre Coe PodRR DpAddrdR DpDatadW {fences}", (4,), levels=TREE),
        *suite("Rfe Fre MembarGldRR MembarCtadRR PodWR MembarGldWR", (5,), levels=TREE),
        *suite("Rfe Fre MembarGldRR DpAddrdR", (6,), levels=TREE),
    ]
    widths = ["cta", "gpu", "sys"]

    def forbidden(cycle):
        steps = [edge for edge in cycle.edges if edge.internal]
        return all(edge.kind != "Po" for edge in steps) and any(
            len({place[:depth] for place in cycle.places}) == 1
            and all(widths.index(edge.scope) >= width for edge in steps if edge.kind == "Fence")
            for width, depth in enumerate((3, 1, 0))
        )

    follows("ptx-rmo", found, lambda cycle: not forbidden(cycle))


def test_ptx_allows_what_is_not_synchronised_but_for_thin_air():
    """Lustig et al. 2019, sec. 3.4: rfe, co and fr alone do not synchronise; sec. 3.5.4: nor do dependencies, but rf
    and dependencies have no cycle."""
    found = [
        *suite(f"{CLASSIC} {DEPENDENCIES}", (4, 5)),
        *suite(CLASSIC, (6,)),
        *suite(CLASSIC, (4, 5), levels=TREE),
        *suite("DpAddrdW DpDatadW PodRW Rfe", (6,)),
    ]

    def thin_air(cycle):
        return all(edge.kind in ("Rf", "Addr", "Data", "Ctrl") for edge in cycle.edges)

    follows("ptx-6.0", found, lambda cycle: not thin_air(cycle))


def test_fence_sc_between_strong_accesses_restores_order_where_scopes_include_each_other():
    """Lustig et al. 2019, sec. 3.4.3, 3.4.4 and Fig. 7: fence-sc order is part of cause, and cause is in co and not
    against fr. One scope for all: they are morally strong where all threads are in one group of it."""
    for scope, depth in (("cta", 3), ("gpu", 1)):
        fences = " ".join(f"FenceSc.{scope}.d{ends}" for ends in ("WW", "WR", "RW", "RR"))
        found = [
            *suite(f"{fences} Rfe Fre Coe Rlx.{scope}", (4, 5), levels=TREE),
            *suite(f"FenceSc.{scope}.dRR Rfe Fre Rlx.{scope}", (6,), levels=TREE),
        ]
        follows("ptx-6.0", found, lambda cycle, depth=depth: len({place[:depth] for place in cycle.places}) > 1)


def test_release_and_acquire_forbid_what_they_carry_from_thread_to_thread():
    """Lustig et al. 2019, Fig. 5 and sec. 3.4.4: a chain of rf, each from a release to an acquire, is cause.

    Writes here are release and reads acquire, at gpu scope on one GPU. So a cycle is forbidden where all its edges
    between threads are rf, or all but one; with two edges of fr or co no chain leads around (SB, R, 2+2W, IRIW).
    """
    found = suite(f"{CLASSIC} Rel.gpu Acq.gpu", (4, 5, 6))
    follows("ptx-6.0", found, lambda cycle: sum(edge.kind in ("Fr", "Co") for edge in cycle.edges) > 1)


def test_sequential_consistency_forbids_every_classic_cycle():
    """Alglave et al. 2015, sec. 5.2.2: acyclic (po | com)."""
    for cycle in suite(CLASSIC, (4, 5, 6, 7)):
        assert model("sc").judge(litmus_test(cycle)).answer is Answer.FORBIDDEN
