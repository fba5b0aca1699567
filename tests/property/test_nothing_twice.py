"""No two tests of a suite are one test under other names, and no two have one name."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from random import Random

import pytest
from litmus_isomorphism import least_text

from constraints.cycles import CycleBounds, cycles
from corpus.cycles.cycle import litmus_test, oriented
from corpus.cycles.edges import parse_edges
from corpus.litmus.locations import Loc, Reg, Region
from corpus.litmus.normal import map_condition, map_operands
from corpus.litmus.orders import Place
from corpus.litmus.propositions import And, FinalRegister
from corpus.litmus.test import LitmusTest
from corpus.litmus.threads import Thread

CLASSIC = "PodWW PodRR PodRW PodWR Rfe Fre Coe"
SAME = "PosWW PosRR PosRW PosWR Rfi Coi Fri"
DEPENDENCIES = "DpAddrdR DpAddrdW DpDatadW DpCtrldW DpCtrldR DpAddrsR DpDatasW DpCtrlsW"
MEMBARS = " ".join(f"Membar{scope}d{ends}" for scope in ("Cta", "Gl") for ends in ("WW", "WR", "RW", "RR"))
FENCES = " ".join(f"{fence}d{ends}" for fence in ("FenceSc", "FenceAcqRel") for ends in ("WW", "RR"))
TREE = ("cta", "gpu")
BOTH = (Region.GLOBAL, Region.SHARED)

SUITES = {
    "trees": (CLASSIC, (4, 5, 6), 344, {"levels": TREE}),
    "regions": (CLASSIC, (4, 5, 6), 523, {"levels": TREE, "regions": BOTH}),
    "membars": (f"{CLASSIC} {MEMBARS}", (4,), 135, {"levels": TREE}),
    "fences": (f"PodWW PodRR Rfe Fre Coe {FENCES}", (4, 5), 205, {"levels": ("cta",)}),
    "orders": ("PodWW PodRR Rfe Fre Coe Rlx.cta Rel.gpu Acq.gpu Plain", (4,), 378, {"levels": TREE}),
    "cache-operators": (f"{CLASSIC} Rmw Ca Cg Vol", (3, 4), 139, {}),
    "atomics": (f"{CLASSIC} Rmw Rlx.gpu Acq.gpu Rel.gpu Sc.gpu Plain", (3, 4), 1211, {}),
    "atomics-scopes": ("PodRR PodWW Rfe Fre Coe Rmw Rlx Acq Rel", (3, 4), 920, {"levels": ("cta",)}),
    "everything": (f"{CLASSIC} {SAME} {DEPENDENCIES} Rmw", (3, 4, 5), 113, {}),
    "everything-3-accesses": (f"{CLASSIC} {SAME} {DEPENDENCIES} Rmw", (3, 4, 5), 488, {"thread_accesses": 3}),
    "many-accesses": (
        f"{CLASSIC} {SAME} MembarGlsWW MembarGlsWR MembarGldRR",
        (3, 4, 5, 6),
        463,
        {"thread_accesses": 4, "location_accesses": 6},
    ),
}


def suite(text, sizes, **bounds):
    vocabulary = parse_edges(text, TREE)
    return [litmus_test(oriented(cycle)) for size in sizes for cycle in cycles(CycleBounds(vocabulary, **bounds), size)]


@pytest.mark.parametrize(("text", "sizes", "count", "bounds"), SUITES.values(), ids=SUITES)
def test_no_two_tests_are_isomorphic(text, sizes, count, bounds):
    tests = suite(text, sizes, **bounds)
    names = defaultdict(list)
    for test in tests:
        names[least_text(test)].append(test.name)
    assert [twice for twice in names.values() if len(twice) > 1] == []
    assert len({test.name for test in tests}) == len(tests) == count


# The reference itself


def renamed(test: LitmusTest, rng: Random) -> LitmusTest:
    """The test with its threads in another order and everything else under another name."""
    order = rng.sample(range(len(test.threads)), len(test.threads))
    names = [location.name for location in test.locations]
    new = dict(zip(names, rng.sample([f"m{n}" for n in range(9)], len(names)), strict=True))
    levels = [rng.sample(range(9), 9) for _ in Place._fields]

    def operand(value):
        match value:
            case Loc(name):
                return Loc(new[name])
            case Reg(name):
                return Reg(name + "_")
        return value

    def instruction(ins):
        ins = map_operands(ins, operand)
        return replace(ins, target=ins.target + "_") if getattr(ins, "target", None) else ins

    threads = tuple(
        Thread(
            tuple(map(instruction, test.threads[number].instructions)),
            Place(*(level[group] for level, group in zip(levels, test.threads[number].place, strict=True))),
        )
        for number in order
    )

    def term(value):
        match value:
            case FinalRegister(thread, register):
                return FinalRegister(order.index(thread), register + "_")
            case Loc(name):
                return Loc(new[name])
        return value

    locations = [replace(location, name=new[location.name]) for location in test.locations]
    rng.shuffle(locations)
    return replace(test, threads=threads, locations=tuple(locations), condition=map_condition(test.condition, term))


def changed(test: LitmusTest) -> Iterator[LitmusTest]:
    """Tests that differ in one thing that is no name: what is asked, where a thread or a location is."""
    condition = test.condition
    parts = condition.proposition.parts
    for number, part in enumerate(parts):
        for other in ((), (replace(part, right=7),)):
            proposition = And((*parts[:number], *other, *parts[number + 1 :]))
            yield replace(test, condition=replace(condition, proposition=proposition))
    for number, location in enumerate(test.locations):
        shared = replace(location, region=Region.SHARED)
        yield replace(test, locations=(*test.locations[:number], shared, *test.locations[number + 1 :]))
    first, *others = test.threads
    yield replace(test, threads=(replace(first, place=Place(9, 0, 0, 0)), *others))


def test_the_reference_sees_through_names_and_nothing_else():
    rng = Random(1)
    for test in suite(f"{CLASSIC} DpAddrdR DpDatadW DpCtrldW MembarGldWW Rmw", (4, 5)):
        text = least_text(test)
        assert least_text(renamed(test, rng)) == text
        assert all(least_text(other) != text for other in changed(test))


def test_values_may_be_exchanged_and_zero_may_not():
    (test,) = suite("[PodWW,Coe,PodWW,Coe]", (4,))
    assert test.name == "2+2W"

    def with_values(ones, twos):
        values = {1: ones, 2: twos}
        threads = tuple(
            replace(thread, instructions=tuple(replace(ins, value=values[ins.value]) for ins in thread.instructions))
            for thread in test.threads
        )
        return replace(
            test, threads=threads, condition=map_condition(test.condition, lambda term: values.get(term, term))
        )

    assert least_text(with_values(2, 1)) == least_text(with_values(1, 7)) == least_text(test)
    assert least_text(with_values(0, 2)) != least_text(test)
    assert least_text(with_values(1, 1)) != least_text(test)
