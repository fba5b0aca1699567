"""Critical cycles as tests: names, values, conditions, code, observers, and the spelling of a cycle."""

import pytest

from constraints.cycles import CycleBounds, cycles
from corpus.cycles.cycle import Cycle, cycle_name, litmus_test, oriented
from corpus.cycles.edges import parse_edges
from corpus.litmus.condition import print_condition
from corpus.litmus.instructions import Assign, Branch, Comparison, Fence, Label, Load, Rmw, Store
from corpus.litmus.locations import Loc, Reg, Region
from corpus.litmus.orders import Mode, Order, Place, Scope

BOTH = (Region.GLOBAL, Region.SHARED)
HIGH_BIT = 2**30


def all_of(text, **bounds):
    """Every cycle of these edges in this order."""
    words = text.split()
    vocabulary = parse_edges(f"[{','.join(words)}]")
    return [oriented(cycle) for cycle in cycles(CycleBounds(vocabulary, **bounds), len(words))]


def the_cycle(text, **bounds):
    (cycle,) = all_of(text, **bounds)
    return cycle


# Names


CLASSIC = {
    "MP": "PodWW Rfe PodRR Fre",
    "SB": "PodWR Fre PodWR Fre",
    "LB": "PodRW Rfe PodRW Rfe",
    "S": "PodWW Rfe PodRW Coe",
    "R": "PodWW Coe PodWR Fre",
    "2+2W": "PodWW Coe PodWW Coe",
    "CoRR": "Rfe PosRR Fre",
    "CoRW": "Rfe PosRW Coe",
    "WRC": "Rfe PodRW Rfe PodRR Fre",
    "RWC": "Rfe PodRR Fre PodWR Fre",
    "WWC": "Rfe PodRW Rfe PodRW Coe",
    "WRW+WR": "Rfe PodRW Coe PodWR Fre",
    "WRR+2W": "Rfe PodRR Fre PodWW Coe",
    "WRW+2W": "Rfe PodRW Coe PodWW Coe",
    "ISA2": "PodWW Rfe PodRW Rfe PodRR Fre",
    "W+RWC": "PodWW Rfe PodRR Fre PodWR Fre",
    "Z6.0": "PodWW Rfe PodRW Coe PodWR Fre",
    "Z6.1": "PodWW Coe PodWW Rfe PodRW Coe",
    "Z6.2": "PodWW Rfe PodRW Rfe PodRW Coe",
    "Z6.3": "PodWW Coe PodWW Rfe PodRR Fre",
    "Z6.4": "PodWW Coe PodWR Fre PodWR Fre",
    "Z6.5": "PodWW Coe PodWW Coe PodWR Fre",
    "3.SB": "PodWR Fre PodWR Fre PodWR Fre",
    "3.LB": "PodRW Rfe PodRW Rfe PodRW Rfe",
    "3.2W": "PodWW Coe PodWW Coe PodWW Coe",
    "IRIW": "Rfe PodRR Fre Rfe PodRR Fre",
    "IRRWIW": "Rfe PodRR Fre Rfe PodRW Coe",
    "IRWIW": "Rfe PodRW Coe Rfe PodRW Coe",
}


@pytest.mark.parametrize(("name", "text"), CLASSIC.items(), ids=CLASSIC)
def test_classic_names(name, text):
    """As diy names them, and its authors in the papers on Power and ARM; from whichever edge the cycle begins."""
    words = text.split()
    for turn in range(len(words)):
        assert cycle_name(the_cycle(" ".join(words[turn:] + words[:turn]))) == name
    assert the_cycle(text).spelled == text


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("MembarGldWW Rfe MembarGldRR Fre", "MP+membar.gls"),
        ("PodWW Rfe MembarGldRR Fre", "MP+po+membar.gl"),
        ("MembarCtadWW Rfe DpAddrdR Fre", "MP+membar.cta+addr"),
        ("FenceSc.sys.dWW Rfe FenceAcqRel.cta.dRR Fre", "MP+membar.sys+fence.acq_rel.cta"),
        ("DpDatadW Rfe DpCtrldW Rfe", "LB+ctrl+data"),
        ("DpDatadW Rfe DpDatadW Rfe", "LB+datas"),
        ("PodRW Rfe DpAddrdW Rfe", "LB+addr+po"),
        ("Rfe DpDatadW Rfe PodRR Fre", "WRC+data+po"),
        ("Rfe MembarGldRR Fre Rfe PodRR Fre", "IRIW+po+membar.gl"),
        ("Rfe DpAddrsR Fre", "CoRR+addrs"),
        ("Rfe MembarGlsRR Fre", "CoRR+membar.gl-s"),
        ("Rfe Rmw Coe", "CoRW+rmw"),
        ("PodWW Rfe Rmw Rfe PodRR Fre", "ISA2+po+rmw+po"),
        ("PodRR Fre PodWR Fre PodWW Rfe PodRR Fre PodWW Rfe", "RR.fr.WR.fr.WW.rf.RR.fr.WW.rf"),
        ("PodWWPlainRel.gpu RfeRel.gpuAcq.gpu PodRRAcq.gpuPlain Fre", "MP+plain-rel.gpu+acq.gpu-plain"),
        ("MembarGldWWCgCg RfeCgCa PodRRCaCa FreCaCg", "MP+membar.gl+po+cg-cg+ca-ca"),
        ("RfeRel.ctaAcq.cta RmwAcq.ctaRel.cta CoeRel.ctaRel.cta", "CoRW+rmw+rel.cta+acq.cta-rel.cta"),
    ],
)
def test_what_decorates_a_name(text, name):
    bounds = {"thread_accesses": 2, "location_accesses": 4}
    assert cycle_name(the_cycle(text, **bounds)) == name


@pytest.mark.parametrize(
    ("text", "bounds", "names"),
    [
        ("PodWR Fre PodWR Fre", {"levels": ("cta",)}, "SB SB@01"),
        ("PodWR Fre PodWR Fre", {"levels": ("gpu",)}, "SB SB@0--1"),
        ("PodWW Rfe PodRR Fre", {"levels": ("cta", "gpu")}, "MP MP@0--1 MP@01"),
        ("Rfe PosRR Fre", {"levels": ("cta", "gpu")}, "CoRR CoRR@0--1 CoRR@01"),
        ("PodWR Fre PodWR Fre PodWR Fre", {"levels": ("cta",)}, "3.SB 3.SB@0-12 3.SB@012"),
        ("Rfe PodRW Rfe PodRR Fre", {"levels": ("cta",)}, "WRC WRC@0-12 WRC@01-2 WRC@012 WRC@02-1"),
        (
            "PodWW Rfe PodRR Fre",
            {"levels": ("cta",), "regions": BOTH},
            "MP MP@01 MP@01.shared-x MP@01.shared-xy MP@01.shared-y",
        ),
        ("PodWR Fre PodWR Fre", {"levels": ("cta",), "regions": BOTH}, "SB SB@01 SB@01.shared-xy SB@01.shared-y"),
        ("Rfe PosRR Fre", {"levels": ("cta",), "regions": (Region.SHARED,)}, "CoRR@01.shared-x"),
    ],
)
def test_scope_trees_and_regions_in_names(text, bounds, names):
    assert sorted(map(cycle_name, all_of(text, **bounds))) == names.split()


def test_the_name_of_a_tree_is_the_tree():
    edges = the_cycle("Rfe PodRR Fre Rfe PodRR Fre")
    for places, name in [
        ([(0, 0), (0, 1), (0, 2), (0, 3)], "IRIW"),
        ([(0, 0), (0, 0), (0, 0), (0, 0)], "IRIW@0123"),
        ([(0, 0), (1, 0), (0, 0), (1, 1)], "IRIW@02--1-3"),
        ([(0, 0), (1, 0), (2, 0), (3, 0)], "IRIW@0--1--2--3"),
        ([(0, 0), (0, 1), (1, 0), (1, 0)], "IRIW@0-1--23"),
    ]:
        placed = tuple(Place(gpu, 0, cta, number) for number, (gpu, cta) in enumerate(places))
        assert cycle_name(Cycle(edges.edges, edges.annotations, edges.regions, placed)) == name


# Conditions and code


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("PodWW Rfe PodRR Fre", "1:r2=1 /\\ 1:r3=0"),
        ("PodWR Fre PodWR Fre", "0:r1=0 /\\ 1:r3=0"),
        ("PodRW Rfe PodRW Rfe", "0:r0=1 /\\ 1:r2=1"),
        ("PodWW Rfe PodRW Coe", "1:r2=1 /\\ x=2"),
        ("PodWW Coe PodWR Fre", "1:r3=0 /\\ y=2"),
        ("PodWW Coe PodWW Coe", "x=2 /\\ y=2"),
        ("Rfe PosRR Fre", "1:r1=1 /\\ 1:r2=0"),
        ("Rfe PosRW Coe", "1:r1=2 /\\ x=2"),
        ("Rfe PodRR Fre PodWW Coe", "1:r1=2 /\\ 1:r2=0 /\\ x=2"),
        ("Rfi PodRR Fre Rfi PodRR Fre", "0:r1=1 /\\ 0:r2=0 /\\ 1:r4=1 /\\ 1:r5=0"),
        ("Rfe Rmw Coe PodWW Coe PodWW", "2:r4=1 /\\ x=3 /\\ 3:r1=1 /\\ 3:r2=2 /\\ y=2"),
        ("Coe PosWR Fre PodWW Coe PodWW", "2:r5=2 /\\ x=3 /\\ 3:r1=1 /\\ 3:r2=2 /\\ y=2"),
        ("Rfe PosRR DpAddrdR Fre PodWW", "0:r0=1 /\\ 0:r1=1 /\\ 0:r2=0"),  # r1=0 would be CoRR besides
    ],
)
def test_what_a_condition_asks_for(text, condition):
    test = litmus_test(the_cycle(text, thread_accesses=3, location_accesses=4))
    assert asked(test) == f"exists ({condition})"


def asked(test):
    return print_condition(test.condition, equals="=").strip().replace(" = ", "=").replace("P", "")


def body(text, thread, **bounds):
    return litmus_test(the_cycle(text, **bounds)).threads[thread].instructions


def test_the_code_of_dependencies():
    assert body("PodWW Rfe DpAddrdR Fre", 1) == (
        Load("r2", Loc("y")),
        Assign("d2", "and", (Reg("r2"), HIGH_BIT)),
        Assign("a3", "add", (Loc("x"), Reg("d2"))),
        Load("r3", Reg("a3")),
    )
    assert body("PodWW Rfe DpDatadW Coe", 1) == (
        Load("r2", Loc("y")),
        Assign("d2", "and", (Reg("r2"), HIGH_BIT)),
        Assign("v3", "add", (Reg("d2"), 1)),
        Store(Loc("x"), Reg("v3")),
    )
    assert body("PodWW Rfe DpCtrldW Coe", 1) == (
        Load("r2", Loc("y")),
        Assign("d2", "and", (Reg("r2"), HIGH_BIT)),
        Branch("LC0", Comparison("ne", Reg("d2"), 0)),
        Store(Loc("x"), 1),
        Label("LC0"),
    )


def test_the_code_of_fences_and_annotations():
    assert body("MembarGldWWPlainRel.cta RfeRel.ctaAcq.sys FenceAcqRel.cta.dRRAcq.sysVol FreVolPlain", 0) == (
        Store(Loc("x"), 1),
        Fence(Mode(Order.SC, Scope.GPU)),
        Store(Loc("y"), 1, Mode(Order.RELEASE, Scope.CTA)),
    )
    assert body("MembarGldWWPlainRel.cta RfeRel.ctaAcq.sys FenceAcqRel.cta.dRRAcq.sysVol FreVolPlain", 1) == (
        Load("r2", Loc("y"), Mode(Order.ACQUIRE, Scope.SYS)),
        Fence(Mode(Order.ACQ_REL, Scope.CTA)),
        Load("r3", Loc("x"), Mode(volatile=True)),
    )


def test_an_atomic_operation_is_one_instruction():
    assert body("Rfe Rmw Coe", 1) == (Rmw("exch", "r1", Loc("x"), (1,), Mode(Order.RELAXED, Scope.GPU)),)
    annotated = "PodWW Rfe RmwAcq.ctaRel.cta Rfe PodRR Fre"
    assert body(annotated, 1) == (Rmw("exch", "r2", Loc("y"), (2,), Mode(Order.ACQ_REL, Scope.CTA)),)
    assert body("DpAddrdR Rmw Coe PodWW Rfe", 0, thread_accesses=3) == (
        Load("r0", Loc("x")),
        Assign("d0", "and", (Reg("r0"), HIGH_BIT)),
        Assign("a1", "add", (Loc("y"), Reg("d0"))),
        Rmw("exch", "r1", Reg("a1"), (1,), Mode(Order.RELAXED, Scope.GPU)),
    )


# Observers


WIDEST = Fence(Mode(Order.SC, Scope.SYS))


def test_two_writes_need_no_observer_and_three_do():
    assert len(litmus_test(the_cycle("PodWW Coe PodWW Coe")).threads) == 2
    test = litmus_test(the_cycle("Rfe Rmw Coe PodWW Coe PodWW"))
    assert len(test.threads) == 4
    assert test.threads[3].instructions == (Load("r1", Loc("x")), WIDEST, Load("r2", Loc("x")))
    assert test.threads[3].place == Place(0, 0, 3, 0)
    assert "x=3 /\\ 3:r1=1 /\\ 3:r2=2" in asked(test)


def test_an_observer_of_strong_writes_is_strong():
    text = "Rfe{0}{0} Rmw{0}{0} Coe{0}{0} PodWW{0}{0} Coe{0}{0} PodWW{0}{0}"
    strong = Mode(Order.RELAXED, Scope.SYS)
    for note, mode in (("Rlx.gpu", strong), ("Rlx.cta", strong), ("Plain", Mode())):
        observer = litmus_test(the_cycle(text.format(note))).threads[3]
        assert observer.instructions == (Load("r1", Loc("x"), mode), WIDEST, Load("r2", Loc("x"), mode))


def test_an_observer_is_as_near_to_the_writers_as_they_are_to_each_other():
    found = {
        cycle_name(cycle): litmus_test(cycle).threads[3].place
        for cycle in all_of("Rfe Rmw Coe PodWW Coe PodWW", levels=("cta", "gpu"))
    }
    assert len(found) == 12
    assert found["Z6.1+po+po+rmw"] == Place(0, 0, 3, 0)
    assert found["Z6.1+po+po+rmw@012"] == Place(0, 0, 0, 3)
    assert found["Z6.1+po+po+rmw@0--12"] == Place(0, 0, 1, 0)
    for cycle in all_of("Rfe Rmw Coe PodWW Coe PodWW", levels=("cta",), regions=(Region.SHARED,)):
        assert litmus_test(cycle).threads[3].place == Place(0, 0, 0, 3)


# Spelling


@pytest.mark.parametrize(
    "text",
    [
        "PodWW PodRR PodRW PodWR Rfe Fre Coe PosRR PosWR Rfi MembarGldWW FenceAcqRel.sys.dRR DpAddrdR DpCtrlsW Rmw",
        "PodWW PodRR FenceSc.gpu.dRR Rfe Fre Coe Rmw Acq.gpu Rel.gpu Plain",
        "PodWW PodRR Rfe Fre Rmw Ca Cg Vol",
    ],
)
def test_a_cycle_is_made_of_the_edges_that_it_spells(text):
    for size in (3, 4):
        for cycle in cycles(CycleBounds(parse_edges(text)), size):
            assert cycle in set(cycles(CycleBounds(parse_edges(cycle.spelled)), size))
            assert the_cycle(cycle.spelled) == oriented(cycle)
            assert oriented(oriented(cycle)) == oriented(cycle)
            assert litmus_test(cycle).description == cycle.spelled
