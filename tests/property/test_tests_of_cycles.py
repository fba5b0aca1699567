"""The test of a cycle asks for the cycle: its condition holds exactly where the cycle is there.

Executions are those that the oracle lists. What is read off them here (which event of the test is which of the cycle,
what an edge is between two events) comes from the edges alone.
"""

from functools import cache
from itertools import pairwise

import pytest
from litmus_models import choosing

from constraints.cycles import CycleBounds, cycles
from corpus.cycles.cycle import litmus_test, oriented
from corpus.cycles.edges import parse_edges
from corpus.dialects.registry import DIALECTS, parse_litmus
from corpus.errors import InputError
from corpus.litmus.locations import Region
from corpus.litmus.made import HIGH_BIT
from corpus.litmus.normal import litmus_digest
from corpus.litmus.orders import Order
from corpus.litmus.propositions import FinalRegister, conjunction
from oracle.consistency import resolve_consistency_models
from oracle.executions.candidates import candidates
from oracle.executions.events import EventKind
from oracle.executions.judge import Answer, judged
from oracle.executions.threads import unroll_threads

CLASSIC = "PodWW PodRR PodRW PodWR Rfe Fre Coe"
SAME = "PosWW PosRR PosRW PosWR Rfi Coi Fri"
DEPENDENCIES = "DpAddrdR DpAddrdW DpDatadW DpCtrldW DpCtrldR DpAddrsR DpDatasW DpCtrlsW"
FENCES = "MembarGldWW MembarCtadRR FenceAcqRel.gpu.dRR FenceSc.sys.sRR MembarGlsWW FenceAcqRel.sys.dRW"
TREE = ("cta", "gpu")
BOTH = (Region.GLOBAL, Region.SHARED)

SUITES = {
    "plain": (CLASSIC, (4, 5, 6), {}),
    "same-location": (f"{CLASSIC} {SAME}", (3, 4, 5), {"thread_accesses": 3}),
    "same-location-4": (f"{CLASSIC} {SAME}", (4, 5), {"thread_accesses": 3, "location_accesses": 4}),
    "compositions": (CLASSIC, (3, 4, 5), {"compositions": True}),
    "compositions-same-location": (f"Rfe Fre Coe PodWW PodRR {SAME}", (3, 4), {"compositions": True}),
    "dependencies": (f"{CLASSIC} {DEPENDENCIES}", (3, 4), {}),
    "dependencies-3": (f"Rfe Fre Coe PosRR Rfi {DEPENDENCIES}", (4, 5), {"thread_accesses": 3}),
    "fences": (f"{CLASSIC} {FENCES}", (3, 4), {"levels": TREE}),
    "atomics": (f"{CLASSIC} {SAME} DpAddrdR Rmw", (3, 4, 5), {}),
    "annotated-atomics": (f"{CLASSIC} Rmw Rlx.gpu Acq.gpu Rel.gpu", (3, 4), {}),
    "annotations": ("PodWW PodRR Rfe Fre Acq.cta Rel.sys Vol Ca Cg", (4,), {}),
    "regions": (CLASSIC, (4, 5), {"levels": TREE, "regions": BOTH}),
}
OBSERVED = {
    "three-writes": ("Rfe Coe PosWW PosRW PodWW PodRW Rmw", (3, 4, 5), {"levels": ("cta",), "location_accesses": 4}),
    "shared": ("Rfe Coe PosWW PodWW PodRW Rmw", (4, 5), {"levels": TREE, "regions": (Region.SHARED,)}),
}


ALL = SUITES | OBSERVED


@cache
def made(text, sizes, bounds):
    bounds = CycleBounds(parse_edges(text), **dict(bounds))
    found = [oriented(cycle) for size in sizes for cycle in cycles(bounds, size)]
    assert found
    return [(cycle, litmus_test(cycle)) for cycle in found]


def suite(name):
    """The cycles of a suite and their tests."""
    text, sizes, bounds = ALL[name]
    return made(text, sizes, tuple(bounds.items()))


# Which event is which, and what an edge is


def threads_of(cycle):
    """The events of each thread, from the edges alone."""
    threads = []
    for event in range(len(cycle.edges)):
        if not cycle.edges[event - 1].internal:
            threads.append([])
        threads[-1].append(event)
    return threads


def executed(cycle, batch):
    """To each event of the cycle the number of the oracle's event; None where some are not executed."""
    index = {}
    for number, events in enumerate(threads_of(cycle)):
        accesses = [
            n
            for n, e in enumerate(batch.base.events)
            if e.thread == number and e.kind in (EventKind.READ, EventKind.WRITE)
        ]
        if len(accesses) != len(events):
            return None
        index |= dict(zip(events, accesses, strict=True))
    return index


def present(edge, one, other, base):
    """The candidates in which an edge is between two events."""
    everywhere = base.algebra.true
    if edge.kind in ("Rf", "Co", "Fr", "Addr", "Data", "Ctrl", "Rmw"):
        return base.relation(edge.kind.lower())[one].get(other, 0)
    if edge.kind == "Fence":
        order = {Order.SC: "SC", Order.ACQ_REL: "ACQ_REL"}[edge.order]
        first, second = base.events[one], base.events[other]
        fences = [
            event
            for event in base.events
            if event.thread == first.thread
            and event.kind is EventKind.FENCE
            and first.key[1] < event.key[1] < second.key[1]
        ]
        return everywhere if any(order in f.tags and f.scope.label == edge.scope for f in fences) else 0
    return base.relation("po")[one].get(other, 0)


def holds_what_is_written(cycle, index, base):
    """Kinds, threads, locations, regions and annotations of the events are those of the cycle."""
    for event, edge in enumerate(cycle.edges):
        one, other = base.events[index[event]], base.events[index[(event + 1) % len(cycle.edges)]]
        assert (one.kind, other.kind) == (edge.source, edge.target)
        assert (one.location == other.location) == edge.same
        assert (one.thread == other.thread) == edge.internal
        assert cycle.regions[event].name in one.tags
        if edge.internal:
            assert other.key in {
                e.key for e in base.events if base.relation("po")[index[event]].get(base.events.index(e))
            }
        note = cycle.annotations[event]
        atomic = "Rmw" in (edge.kind, cycle.edges[event - 1].kind)
        assert ("RMW" in one.tags) == atomic
        if not (atomic and note.name == "Plain"):
            order = (
                "RLX"
                if note.volatile
                else {"acquire": "ACQ", "release": "REL", "relaxed": "RLX", "sc": "SC"}.get(note.order, "WEAK")
            )
            assert order in one.tags
            assert note.volatile == ("VOL" in one.tags) and (not note.cache or note.cache.upper() in one.tags)
            assert note.volatile or (one.scope.label if one.scope else "") == note.scope
        else:
            assert "RLX" in one.tags


def cycle_is_there(cycle, index, base):
    there = base.algebra.true
    for event, edge in enumerate(cycle.edges):
        there &= present(edge, index[event], index[(event + 1) % len(cycle.edges)], base)
    return there


def coherent(base):
    """The candidates that are coherent at each location, and whose atomic operations are atomic."""
    algebra = base.algebra
    com = algebra.union(base.relation("rf"), algebra.union(base.relation("co"), base.relation("fr")))
    between = algebra.compose(base.relation("fre"), base.relation("coe"))
    atomic = algebra.is_empty(algebra.intersection(base.relation("rmw"), between))
    return atomic & algebra.is_acyclic(algebra.union(com, base.relation("po-loc")))


def without_thin_air(batch):
    """The candidates whose reads have no high bit: it can only come from itself, round a circle of dependencies."""
    mask = batch.base.algebra.true
    for valuation in batch.finals.values():
        for value, where in valuation.items():
            if not isinstance(value, int) or value & HIGH_BIT:
                mask &= ~where
    return mask


def believed(cycle, base):
    """The candidates in which what an observer reads one after the other is in coherence order."""
    mask = base.algebra.true
    for number in {event.thread for event in base.events if event.thread >= len(threads_of(cycle))}:
        reads = [n for n, event in enumerate(base.events) if event.thread == number and event.kind is EventKind.READ]
        for one, other in pairwise(reads):
            for first, rows in enumerate(base.choices.rf):
                for second, others in enumerate(base.choices.rf):
                    if first != second:
                        wrong = rows.get(one, 0) & others.get(other, 0) & base.choices.co[second].get(first, 0)
                        mask &= ~wrong
    return mask


@pytest.mark.parametrize("name", ALL)
def test_the_condition_holds_exactly_where_the_cycle_is(name):
    """Where each location is coherent, "exactly"; elsewhere, the condition needs the cycle."""
    for cycle, test in suite(name):
        threads = threads_of(cycle)
        # A thread that alone changes location comes back to where it began: that cannot be coherent either.
        moving = sum(any(not cycle.edges[event].same for event in events) for events in threads)
        condition = test.condition.proposition
        parts = getattr(condition, "parts", (condition,))
        own = conjunction(
            part for part in parts if not (isinstance(part.left, FinalRegister) and part.left.thread >= len(threads))
        )
        satisfied = sensible = 0
        for batch in candidates(test, unroll_threads(test, 1), choosing()):
            matching = batch.satisfying(condition) & believed(cycle, batch.base)
            index = executed(cycle, batch)
            if index is None:
                assert not matching, test.name
                continue
            holds_what_is_written(cycle, index, batch.base)
            there = cycle_is_there(cycle, index, batch.base)
            assert matching & ~there == 0, test.name
            told = there & coherent(batch.base) & without_thin_air(batch)
            assert told & batch.valid & ~batch.satisfying(own) == 0, test.name
            satisfied |= matching
            sensible |= matching & coherent(batch.base)
        assert satisfied, f"{test.name} cannot be satisfied"
        assert bool(sensible) == (moving > 1), f"{test.name} asks for more than its cycle"


@pytest.mark.parametrize("name", ALL)
def test_sequential_consistency_forbids_every_cycle(name):
    """Internal communication is program order too, so a cycle of any edges is one of po and com."""
    (sc,) = resolve_consistency_models(["sc"])
    for _, test in suite(name):
        assert sc.judge(test).answer is Answer.FORBIDDEN, test.name


@pytest.mark.parametrize(("note", "together"), [("Rlx.cta", True), ("Rlx.gpu", False), ("Vol", False)])
@pytest.mark.parametrize("edges", ["Rfe PosRW Coe", "Rfe Rmw Coe PodWW Coe PodWW", "PosWW Rfe PodRW Coe PodWW Coe"])
def test_ptx_sees_the_cycle_where_accesses_are_strong(edges, note, together):
    """Lustig et al. 2019, 3.5.1: coherence relates writes that are morally strong; and the observer is as strong."""
    (ptx,) = resolve_consistency_models(["ptx-6.0"])
    words = edges.split()
    text = f"[{','.join(words)}] {note}"
    bounds = (("levels", ("cta",)), ("location_accesses", 4))
    pairs = made(text, (len(words),), bounds)
    ctas = {True: 1, False: len(pairs[0][0].places)}[together]
    ((cycle, test),) = [(cycle, test) for cycle, test in pairs if len({place.cta for place in cycle.places}) == ctas]
    possible = 0
    for batch, allowed, _ in judged(test, unroll_threads(test, 1), ptx.model):
        index = executed(cycle, batch)
        assert index is not None
        satisfying = batch.satisfying(test.condition.proposition)
        assert allowed & satisfying & ~cycle_is_there(cycle, index, batch.base) == 0
        possible |= satisfying
    assert possible


# Observers


def test_observers_are_beside_the_writers():
    observed = 0
    for cycle, test in [pair for name in OBSERVED for pair in suite(name)]:
        writers = {}
        for number, events in enumerate(threads_of(cycle)):
            for event in events:
                if cycle.edges[event].source == "W":
                    location = next(at for at, where in enumerate(cycle.locations()) if event in where)
                    writers.setdefault(location, []).append(test.threads[number].place)
        many = [places for places in writers.values() if len(places) > 2]
        assert len(test.threads) == len(cycle.places) + len(many)
        places = [thread.place for thread in test.threads]
        assert len(set(places)) == len(places)
        for places, observer in zip(many, test.threads[len(cycle.places) :], strict=True):
            for depth in (1, 3):
                together = len({place[:depth] for place in places}) == 1
                assert not together or observer.place[:depth] == places[0][:depth]
            observed += 1
    assert observed > 10


# Round trips


EVERY = set(ALL)
WEAK = {"plain", "same-location", "same-location-4", "compositions", "compositions-same-location"}
HELD = {
    "gpu-ptx": EVERY,
    "lisa": EVERY,
    "opencl": EVERY - {"annotations"},  # cache operators
    "ptx": {*WEAK, "fences", "annotated-atomics", "three-writes", "regions", "shared"},
    "c": {*WEAK, "dependencies", "dependencies-3"},
}
"""The suites of which a dialect can say every test; of the others it refuses some."""


@pytest.mark.parametrize("dialect", HELD)
@pytest.mark.parametrize("name", ALL)
def test_a_dialect_says_a_test_or_refuses_it(dialect, name):
    refused = 0
    for cycle, test in suite(name):
        try:
            text = DIALECTS[dialect].print(test)
        except InputError:
            refused += 1
            continue
        back = parse_litmus(text)
        assert litmus_digest(back) == litmus_digest(test), text
        assert (back.name, back.description) == (test.name, cycle.spelled)
    assert (refused == 0) == (name in HELD[dialect])
