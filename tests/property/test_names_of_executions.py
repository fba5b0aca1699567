"""Executions that are critical cycles are named and written as those; names are those of files."""

import re
from itertools import permutations
from random import Random

import pytest
from random_executions import PTX, random_execution

from constraints.cycles import CycleBounds, cycles
from corpus.cycles import cycle as of_cycles
from corpus.cycles.edges import parse_edges
from corpus.executions.execution import INITIAL, Dependency, Execution, OpKind, Step
from corpus.executions.litmus import litmus_test
from corpus.executions.names import critical_cycle, name_of
from corpus.executions.text import parse_execution
from corpus.litmus.instructions import Fence, Load, Rmw, Store
from corpus.litmus.locations import MEMORY_REGIONS
from corpus.litmus.normal import litmus_digest

CLASSIC = "PodWW PodRR PodRW PodWR PosRR PosRW Rfe Fre Coe"
SUITES = {
    "plain": (CLASSIC, (3, 4, 5, 6), {}),
    "dependencies": (f"{CLASSIC} DpAddrdR DpAddrdW DpDatadW DpCtrldW DpCtrldR", (3, 4), {}),
    "fences": (f"{CLASSIC} MembarGldWW MembarCtadRR FenceAcqRel.gpu.dRR", (3, 4), {"levels": ("cta", "gpu")}),
    "atomics": (f"{CLASSIC} Rmw", (3, 4, 5), {}),
    "annotations": ("PodWW PodRR Rfe Fre Acq.cta Rel.sys Vol Ca Cg", (4,), {}),
    "regions": (CLASSIC, (4,), {"levels": ("cta",), "regions": MEMORY_REGIONS}),
    "observed": ("Rfe Coe PosWW PosRW PodWW PodRW", (3, 4, 5), {"location_accesses": 4}),
}


def execution_of(cycle):
    """The execution that a cycle asks for, from the instructions of its test and from the cycle's edges."""
    test = of_cycles.litmus_test(cycle)
    kinds = {Load: OpKind.READ, Store: OpKind.WRITE, Rmw: OpKind.UPDATE, Fence: OpKind.FENCE}
    at, threads, numbers = {}, [], 0
    for events, thread in zip(cycle.threads(), test.threads, strict=False):  # without observers
        waiting, steps = list(events), []
        for ins in thread.instructions:
            if type(ins) not in kinds:
                continue
            kind = kinds[type(ins)]
            if kind is not OpKind.FENCE:
                location = next(n for n, found in enumerate(cycle.locations()) if waiting[0] in found)
                for _ in range(kind.events):
                    at[waiting.pop(0)] = numbers
            steps.append(Step(kind, None if kind is OpKind.FENCE else location, ins.mode))
            numbers += 1
        threads.append(tuple(steps))
    values, orders = cycle.frame.values, cycle.frame.orders
    rf = [None] * numbers
    for events, order in zip(cycle.locations(), orders, strict=True):
        for event in events:
            if cycle.access(event) == "R":
                rf[at[event]] = at[order[values[event] - 1]] if values[event] else INITIAL
    dependencies = [
        Dependency(edge.kind.lower(), at[event], at[(event + 1) % cycle.size])
        for event, edge in enumerate(cycle.edges)
        if edge.kind in ("Addr", "Data", "Ctrl")
    ]
    return Execution(
        tuple(threads),
        cycle.places,
        tuple(cycle.regions[events[0]] for events in cycle.locations()),
        tuple(sorted(dependencies)),
        tuple(rf),
        frozenset((at[o], at[p]) for order in orders for n, o in enumerate(order) for p in order[n + 1 :]),
        tuple(at[order[-1]] if order else None for order in orders),
    )


@pytest.mark.parametrize("suite", SUITES)
def test_an_execution_that_is_a_cycle_has_its_test_and_its_name(suite):
    text, sizes, bounds = SUITES[suite]
    found = [c for size in sizes for c in cycles(CycleBounds(parse_edges(text), **bounds), size)]
    rng = Random(suite)
    assert found
    for cycle in map(of_cycles.oriented, rng.sample(found, min(120, len(found)))):
        execution = execution_of(cycle)
        test = of_cycles.litmus_test(cycle)
        assert litmus_digest(litmus_test(execution, "test", observed=True)) == litmus_digest(test)
        image = rng.choice([execution.reordered(list(o)) for o in permutations(range(len(execution.threads)))])
        again, turned = critical_cycle(image)
        assert again.places == turned.places
        mine = of_cycles.litmus_test(again)
        if len(turned.regions) > 1:  # at one location, the same edges may go back at another step
            assert litmus_digest(mine) == litmus_digest(litmus_test(turned, "test", observed=True))
        assert name_of(image) == (mine.name, turned)
        if suite in ("plain", "dependencies", "fences", "annotations"):
            others = {of_cycles.cycle_name(rotated) for rotated in cycle.rotations()}
            assert mine.name in others | {test.name}


@pytest.mark.parametrize("seed", range(5))
def test_a_name_is_one_of_a_file_and_its_threads_are_those_of_the_test(seed):
    rng = Random(seed)
    for execution in [random_execution(rng, PTX, size=4, silent=True) for _ in range(150)]:
        name, turned = name_of(execution)
        assert re.fullmatch(r"[\w.+@-]+", name)
        orders = permutations(range(len(execution.threads)))
        assert turned in {execution.reordered(list(order)) for order in orders}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("SB+rmw-plain+rmw-plain",
         "0.0.0.0: rmw.relaxed.gpu x<-init; R y<-init | 0.0.1.0: rmw.relaxed.gpu y<-init; R x<-init | final x=0 y=2"),
        ("MP+fence.release.gpu+ctrl@01",
         "0.0.0.0: R x<-4; R y<-init ctrl:0 | 0.0.0.1: W y; F.release.gpu; W x | final x=4 y=2"),
        ("CoWR+plain-acq+rel", "0.0.0.0: W x; R.acquire x<-2 | 0.0.1.0: W.release x | co 2<0 | final x=0"),
        ("SB+membar.syss+rlx-sc+rlx-sc",
         "0.0.0.0: W.relaxed x; F.sc; R.sc y<-init | 0.0.1.0: W.relaxed y; F.sc; R.sc x<-init | final x=0 y=3"),
        ("CoWW", "0.0.0.0: W x; W x | co 1<0 | final x=0"),
        ("CoRW1", "0.0.0.0: R x<-1; W x | final x=1"),
        ("CoWR0+rel.gpu-acq.gpu", "0.0.0.0: W.release.gpu x; R.acquire.gpu x<-init | final x=0"),
        ("CoRR", "0.0.0.0: R x<-2; R x<-init | 0.0.1.0: W x | final x=2"),
        ("RFF.W+plain-sc.gpu-sc.sys+plain", "0.0.0.0: R x<-3; F.sc.gpu; F.sc.sys | 0.0.1.0: W x | final x=3"),
        ("BR.WB@01.shared-x", "0.0.0.0: bar; R x<-init | 0.0.0.1: W x; bar | shared x | final x=2"),
        ("RWW+data-0-2", "0.0.0.0: R x; W x; W y data:0"),
    ],
)  # fmt: skip
def test_names(name, text):
    execution = parse_execution(text)
    assert name_of(execution)[0] == name
