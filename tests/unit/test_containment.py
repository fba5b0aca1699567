"""Which cycles contain which, and the minimal tests of a suite, against brute force: one small step after the other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import pytest

from constraints.cycles import CycleBounds, cycles
from corpus.cycles.containment import contains, minimal
from corpus.cycles.cycle import Cycle, cycle_name, oriented
from corpus.cycles.edges import PLAIN, Annotation, Edge, all_annotations, atomic_mode, parse_edges
from corpus.litmus.locations import MEMORY_REGIONS, Region
from corpus.litmus.normal import renumbered
from corpus.litmus.orders import Order, Scope
from corpus.test import Test
from synth.memory.synthesis import minimal_tests

CLASSIC = "PodWW PodRR PodRW PodWR Rfe Fre Coe"
NARROWER = {Scope.SYS: Scope.GPU, Scope.GPU: Scope.CTA, "sys": "gpu", "gpu": "cta"}
WEAKER = {
    Order.SC: [Order.ACQ_REL, Order.ACQUIRE, Order.RELEASE],
    Order.ACQ_REL: [Order.ACQUIRE, Order.RELEASE],
    Order.ACQUIRE: [Order.RELAXED],
    Order.RELEASE: [Order.RELAXED],
}


def made(edges: str, *sizes: int, levels: tuple[str, ...] = ()) -> list[Cycle]:
    bounds = CycleBounds(parse_edges(edges), levels, MEMORY_REGIONS if levels else (Region.GLOBAL,))
    return [oriented(cycle) for size in sizes for cycle in cycles(bounds, size)]


# Brute force: everything that steps lead to, where a step makes one thing weaker by one, or deletes a thread.


def reached(cycle: Cycle) -> set[Cycle]:
    found, waiting = {respelled(cycle)}, [respelled(cycle)]
    while waiting:
        new = set(steps(waiting.pop())) - found
        found |= new
        waiting += new
    return found


def is_in(cycle: Cycle, found: set[Cycle]) -> bool:
    return any(turned in found for turned in rotations(respelled(cycle)))


def rotations(cycle: Cycle) -> Iterator[Cycle]:
    for start in range(cycle.size):
        if not cycle.edges[start - 1].internal:
            first = sum(not edge.internal for edge in cycle.edges[:start])
            yield Cycle(
                *(part[start:] + part[:start] for part in (cycle.edges, cycle.annotations, cycle.regions)),
                tuple(renumbered(cycle.places[first:] + cycle.places[:first])),
            )


def halves(cycle: Cycle, event: int) -> tuple[Annotation, Annotation]:
    return cycle.annotations[event], cycle.annotations[(event + 1) % cycle.size]


def with_note(cycle: Cycle, event: int, note: Annotation) -> Cycle:
    event %= cycle.size
    return replace(cycle, annotations=(*cycle.annotations[:event], note, *cycle.annotations[event + 1 :]))


def respelled(cycle: Cycle) -> Cycle:
    """Halves of atomic operations that are plain, spelled as relaxed ones: there are pairs that say the same."""
    for event, edge in enumerate(cycle.edges):
        if edge.kind == "Rmw":
            scope = {note.scope for note in halves(cycle, event) if note.scope} or {"gpu"}
            for half, note in enumerate(halves(cycle, event)):
                if note == PLAIN:
                    cycle = with_note(cycle, event + half, all_annotations()[f"Rlx.{min(scope)}"])
    return cycle


def steps(cycle: Cycle) -> Iterator[Cycle]:
    for place, edge in enumerate(cycle.edges):
        for weaker in weaker_edges(edge):
            yield replace(cycle, edges=(*cycle.edges[:place], weaker, *cycle.edges[place + 1 :]))
        if edge.kind == "Rmw":
            for read, write in product(all_annotations().values(), repeat=2):
                if read.scope and write.scope and "R" in read.fits and "W" in write.fits:
                    strong, weak = atomic_mode(*halves(cycle, place)), atomic_mode(read, write)
                    assert strong is not None
                    scopes, orders = {strong.scope, NARROWER.get(strong.scope)}, {strong.order}
                    if weak and weak.scope in scopes and weak.order in orders.union(WEAKER.get(strong.order, [])):
                        yield with_note(with_note(cycle, place, read), place + 1, write)
    for event, note in enumerate(cycle.annotations):
        if not cycle.in_atomic(event) and note != PLAIN:
            yield with_note(cycle, event, PLAIN)
            for other in all_annotations().values():
                narrower = other.order == note.order and note.scope and other.scope == NARROWER.get(note.scope)
                weaker = other.order in WEAKER.get(note.order, []) and other.scope == note.scope
                if cycle.access(event) in other.fits and (narrower or weaker):
                    yield with_note(cycle, event, other)
    for thread in range(len(cycle.places) if len(cycle.places) > 2 else 0):
        yield from without(cycle, thread)


def weaker_edges(edge: Edge) -> Iterator[Edge]:
    if edge.kind in ("Fence", "Addr", "Data", "Ctrl"):
        yield Edge("Po", edge.source, edge.target, True, edge.same)
    if edge.kind == "Fence" and edge.scope in NARROWER:
        yield replace(edge, scope=NARROWER[edge.scope])
    if edge.order is Order.SC:
        yield replace(edge, order=Order.ACQ_REL)


def without(cycle: Cycle, thread: int) -> Iterator[Cycle]:
    events = cycle.threads()[thread]
    left = [event for event in range(cycle.size) if event not in events]
    before, after = (events[0] - 1) % cycle.size, (events[-1] + 1) % cycle.size
    ends = cycle.access(before) + cycle.access(after)
    if ends == "RR" or cycle.regions[before] != cycle.regions[after]:
        return
    joined = Edge({"WR": "Rf", "RW": "Fr", "WW": "Co"}[ends], *ends, False, True)
    edges = tuple(joined if event == before else cycle.edges[event] for event in left)
    if [edge.same for edge in edges].count(False) != 1:
        notes, regions = (tuple(part[event] for event in left) for part in (cycle.annotations, cycle.regions))
        places = [place for number, place in enumerate(cycle.places) if number != thread]
        yield Cycle(edges, notes, regions, tuple(renumbered(places)))


def sample(every: list[Cycle], most: int) -> list[Cycle]:
    return every[:: -(-len(every) // most)]


@pytest.mark.parametrize(
    ("edges", "sizes", "levels"),
    [
        (f"{CLASSIC} MembarGldWW MembarCtadWW DpAddrdR", (4, 5), ()),
        ("PodWW PodRR Rfe Fre Rel.gpu Rel.cta Acq.gpu Rlx.cta Plain", (4,), ()),
        ("PodWR Fre Sc.gpu Rel.gpu Acq.gpu Rlx.cta Plain", (4,), ()),
        ("PodRR PosRR PodRW DpDatadW Rfe Fre Coe Cg Vol Plain", (3, 4), ()),
        ("PodWW PodRR Rfe Fre MembarGldRR FenceAcqRel.cta.dWW", (4, 6), ("cta",)),
        ("Rmw PodWW PodRR Rfe Fre Coe Acq.gpu Rlx.cta Rel.cta Plain", (4,), ()),
        (CLASSIC, (4, 5, 6), ("cta",)),
    ],
)
def test_steps_lead_to_what_is_contained(edges, sizes, levels):
    every = sample(made(edges, *sizes, levels=levels), 60)
    inside = 0
    for one in every:
        below = reached(one)
        for other in every:
            assert contains(one, other) == is_in(other, below), (one.spelled, one.places, other.spelled, other.places)
            inside += one is not other and contains(one, other)
    assert inside  # else nothing was tried


def test_rotations_are_one():
    for cycle in made("PodWW PodRR PodRW Rfe Fre Coe Rel.gpu Plain", 4, 5, levels=("cta",))[::9]:
        for turned in rotations(cycle):
            assert contains(cycle, turned) and contains(turned, cycle)


def made_once(spelled: str) -> Cycle:
    """A cycle that takes each of the edges, and no other."""
    words = sorted(spelled.split())
    found = made(" ".join(dict.fromkeys(words)), len(words))
    return next(cycle for cycle in found if sorted(edge.name for edge in cycle.edges) == words)


@pytest.mark.parametrize(
    ("cycle", "other", "answer"),
    [
        ("PodWW Rfe PodRW Rfe PodRR Fre", "PodWW Rfe PodRR Fre", True),  # ISA2 holds MP
        ("Rfe PodRW Rfe PodRR Fre", "PodWW Rfe PodRR Fre", False),  # WRC: a thread less closes no cycle
        ("PodWW Rfe PodRR Fre", "PodWR Fre PodWR Fre", False),
        ("MembarGldWW Rfe PodRR Fre", "PodWW Rfe PodRR Fre", True),
        ("PodWW Rfe PodRR Fre", "MembarGldWW Rfe PodRR Fre", False),
        ("MembarSysdWW Rfe DpAddrdR Fre", "MembarCtadWW Rfe PodRR Fre", True),
        ("MembarGldWW Rfe DpAddrdR Fre", "MembarGldWW Rfe MembarCtadRR Fre", False),
        ("FenceSc.gpu.dWW Rfe PodRR Fre", "FenceAcqRel.cta.dWW Rfe PodRR Fre", True),
        ("FenceAcqRel.sys.dWW Rfe PodRR Fre", "FenceSc.cta.dWW Rfe PodRR Fre", False),
    ],
)
def test_examples(cycle, other, answer):
    assert contains(made_once(cycle), made_once(other)) is answer


@pytest.mark.parametrize(
    "edges", [f"{CLASSIC} MembarGldWW MembarGldRR", "PodWW PodRR PodRW Rfe Fre Rel.gpu Acq.gpu Plain"]
)
def test_minimal_cycles_contain_no_other_and_each_is_there(edges):
    every = sample(made(edges, 4, 5, 6), 100)
    chosen = minimal(every)
    brute = [one for one in every if not any(other is not one and contains(one, other) for other in every)]
    assert chosen == brute and 0 < len(chosen) < len(every)
    assert all(any(contains(one, other) for other in chosen) for one in every)


def test_a_suite_keeps_the_minimal_tests_of_each_verdict_vector():
    cycles_by_name, tests = {}, []
    for number, cycle in enumerate(sorted(made(f"{CLASSIC} MembarGldWW MembarGldRR", 4, 5), key=by_size)):
        verdict = ("ALLOWED", "FORBIDDEN")[number % 3 == 0]  # any function will do
        cycles_by_name[cycle_name(cycle)] = cycle
        tests.append(Test(cycle_name(cycle), "", "", {"sc": verdict}))
    chosen = minimal_tests(tests, cycles_by_name)
    groups: dict[str, list[Cycle]] = {}
    for test in tests:
        groups.setdefault(test.verdicts["sc"], []).append(cycles_by_name[test.name])
    assert len(groups) == 2
    for said, group in groups.items():
        kept = [cycles_by_name[test.name] for test in chosen if test.verdicts["sc"] == said]
        assert kept == minimal(group)


def by_size(cycle: Cycle) -> tuple[int, str]:
    return cycle.size, cycle_name(cycle)
