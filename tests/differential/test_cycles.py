"""The clauses have exactly the critical cycles that plain enumeration finds, each once; and every solver says so."""

import shutil
import subprocess
from collections import Counter
from random import Random

import pytest
from bruteforce_cycles import all_cycles, row

from constraints.cycles import CycleBounds, CycleEncoding, cycles, idle, patterns
from constraints.loop import SolverEffort, solutions
from constraints.solvers import SOLVERS
from corpus.cycles.cycle import cycle_name, litmus_test, oriented
from corpus.cycles.edges import EdgeVocabulary, all_annotations, all_edges, parse_edges
from corpus.dialects.registry import dialect_for, parse_litmus
from corpus.litmus.locations import Region

CLASSIC = "PodWW PodRR PodRW PodWR Rfe Fre Coe"
SAME = "PosWW PosRR PosRW PosWR"
INNER = "Rfi Coi Fri"
DEPENDENCIES = "DpAddrdR DpAddrdW DpDatadW DpCtrldW DpCtrldR DpAddrsR DpDatasW DpCtrlsW"
FENCES = "MembarGldWW MembarGldRR MembarCtadWR FenceAcqRel.gpu.dRW MembarGlsWW FenceSc.sys.sRR"
EVERYTHING = f"{CLASSIC} {SAME} {INNER} DpAddrdR DpDatadW DpCtrlsW Rmw"
BOTH = (Region.GLOBAL, Region.SHARED)
TREE = ("cta", "gpu")

# name: edges, size, number of cycles, other bounds
SMALL = {
    "size-1": (EVERYTHING, 1, 0, {}),
    "size-2": (EVERYTHING, 2, 0, {}),
    "plain-4": (CLASSIC, 4, 6, {}),
    "plain-5": (CLASSIC, 5, 6, {}),
    "plain-6": (CLASSIC, 6, 14, {}),
    "plain-7": (CLASSIC, 7, 18, {}),
    "one-location": (f"{CLASSIC} {SAME} {INNER}", 3, 2, {}),
    "same-4": (f"{CLASSIC} {SAME} {INNER}", 4, 6, {}),
    "same-5": (f"{CLASSIC} {SAME} {INNER}", 5, 6, {}),
    "three-accesses-4": (f"{CLASSIC} {SAME} {INNER}", 4, 6, {"thread_accesses": 3}),
    "three-accesses-5": (f"{CLASSIC} {SAME} {INNER}", 5, 18, {"thread_accesses": 3}),
    "many-of-a-location": (f"{CLASSIC} {SAME}", 5, 12, {"thread_accesses": 3, "location_accesses": 5}),
    "few-of-a-location": (f"{CLASSIC} {SAME} Rfi", 6, 20, {"thread_accesses": 4, "location_accesses": 2}),
    "one-access-a-thread": (f"{CLASSIC} Rmw", 4, 1, {"thread_accesses": 1}),
    "everything-4": (EVERYTHING, 4, 17, {}),
    "everything-5": (EVERYTHING, 5, 37, {}),
    "dependencies-4": (f"{CLASSIC} {DEPENDENCIES}", 4, 20, {}),
    "dependencies-3-accesses": (f"Rfe Fre Coe PodRW Coi Fri {DEPENDENCIES}", 5, 112, {"thread_accesses": 3}),
    "fences-3": (f"{CLASSIC} {SAME} {FENCES}", 3, 3, {}),
    "fences-4": (f"{CLASSIC} {FENCES}", 4, 21, {}),
    "fences-tree-4": (f"Rfe Fre Coe {FENCES}", 4, 18, {"levels": TREE}),
    "fences-5": (f"{CLASSIC} {FENCES}", 5, 120, {"levels": ("cta",)}),
    "atomic-4": (f"{CLASSIC} {SAME} Rmw", 4, 12, {}),
    "atomic-5": (f"{CLASSIC} PosWW PosRR Rmw", 5, 18, {}),
    "atomic-3-accesses": (f"{CLASSIC} {INNER} Rmw", 5, 33, {"thread_accesses": 3}),
    "annotations": (f"{CLASSIC} Rlx.gpu Acq.cta Rel.sys", 4, 78, {}),
    "annotations-and-plain": ("PodWW PodRR Rfe Fre Coe Rlx.gpu Acq.gpu Rel.gpu Plain", 4, 126, {}),
    "cache-operators": (f"{CLASSIC} Ca Cg Vol Plain", 4, 561, {}),
    "cache-operators-of-reads": (f"{CLASSIC} Ca", 4, 6, {}),
    "annotated-atomics-3": ("Rmw Rfe Fre Coe PosRR Rlx Acq Rel Sc Plain", 3, 413, {}),
    "annotated-atomics-4": ("Rmw Rfe Fre Coe PodWW Rlx.gpu Acq.gpu Rel.gpu Rel.cta Plain", 4, 151, {}),
    "atomics-of-half-an-annotation": (f"{CLASSIC} Rmw Acq.gpu", 5, 16, {}),
    "atomics-among-cache-operators": (f"{CLASSIC} Rmw Cg", 5, 16, {}),
    "inline": ("PodWWPlainRel.gpu PodRRAcq.gpuPlain PodRRRlx.gpu Rfe Fre Coe PodRW", 4, 5, {}),
    "inline-and-listed": ("PodWWPlainRel.gpu PodRR RfeRel.gpuAcq.gpu Rfe Fre Coe Rlx.gpu Plain", 4, 7, {}),
    "inline-atomics": ("RmwAcq.gpuRel.gpu Rmw Rfe Fre Coe PodWW PodRR Plain Rlx.gpu", 4, 29, {}),
    "inline-plain-atomics": ("RmwPlainPlain Rfe Fre Coe PodWW PodRR Plain Rlx.gpu", 4, 27, {}),
    "sequences": ("[PodWW,Rfe] PodRR|PodRW Fre Coe", 4, 2, {}),
    "sequences-that-overlap": ("[PodWW,Rfe] [Rfe,PodRR,Fre] PodWW [PodRR,Fre] [Fre,PodWR|PodWW] Rfe [Fre]", 6, 2, {}),
    "sequences-with-annotations": ("[PodWW,RfeRel.gpuAcq.gpu] PodRR Fre Coe Rlx.gpu Plain", 4, 4, {}),
    "sequences-around": ("[PodRR,Fre,Rfe] [Fre,PodWW,Rfe,PodRR]", 6, 1, {}),
    "steps-are-communication": ("Rfe Fre Coe Rmw PosWW Coi PosWR Rfi", 5, 4, {}),
    "steps-asked-for-otherwise": ("Rfe Fre Coe Rmw [PosWW,Rfe] Coi PosWRPlain Rfi PosWR", 5, 7, {}),
    "compositions-2": (EVERYTHING, 2, 0, {"compositions": True}),
    "compositions-3": (EVERYTHING, 3, 3, {"compositions": True}),
    "compositions-4": (EVERYTHING, 4, 21, {"compositions": True}),
    "compositions-plain-6": (CLASSIC, 6, 26, {"compositions": True}),
    "compositions-within-threads": (
        f"Rfe Fre Coe PodWW PodRR {SAME} {INNER}",
        5,
        38,
        {"compositions": True, "thread_accesses": 4, "location_accesses": 5},
    ),
    "compositions-of-fences": (f"{CLASSIC} {FENCES}", 4, 21, {"compositions": True}),
    "compositions-of-sequences": ("[Rfe,Fre] [Coe,Coe] PodWW PodRR PodWR Coe", 5, 2, {"compositions": True}),
    "compositions-tree": ("Rfe Fre Coe PodWW PosRR", 4, 3, {"compositions": True, "levels": TREE}),
    "threads-2": (f"{CLASSIC} {SAME}", 6, 0, {"threads": (2, 2)}),
    "threads-3": (f"{CLASSIC} {SAME}", 6, 11, {"threads": (3, 3)}),
    "threads-4": (f"{CLASSIC} {SAME}", 6, 3, {"threads": (4, 4)}),
    "threads-3-to-4": (f"{CLASSIC} {SAME}", 6, 14, {"threads": (3, 4)}),
    "threads-5": (CLASSIC, 6, 0, {"threads": (5, 5)}),
    "cta-4": (f"{CLASSIC} PosRR", 4, 12, {"levels": ("cta",)}),
    "gpu-4": (f"{CLASSIC} PosRR", 4, 12, {"levels": ("gpu",)}),
    "tree-3": (f"{CLASSIC} PosRR", 3, 3, {"levels": TREE}),
    "tree-5": (f"{CLASSIC} PosRR", 5, 72, {"levels": TREE}),
    "tree-6": (CLASSIC, 6, 254, {"levels": TREE}),
    "tree-annotations": ("PodWW PodRR Rfe Fre Coe Rlx Plain", 4, 378, {"levels": TREE}),
    "regions-apart": (CLASSIC, 4, 6, {"regions": BOTH}),
    "regions-cta": (CLASSIC, 5, 54, {"levels": ("cta",), "regions": BOTH}),
    "regions-tree": (CLASSIC, 5, 102, {"levels": TREE, "regions": BOTH}),
    "regions-shared": (CLASSIC, 5, 6, {"levels": ("cta",), "regions": (Region.SHARED,)}),
    "regions-in-a-thread": (
        "PodRR DpAddrdR PodRW PodWR Rfe Fre Coe",
        5,
        74,
        {"levels": ("cta",), "regions": BOTH, "thread_accesses": 3},
    ),
}
# the cycles of diy7 -mode critical
DIY7 = {
    "diy7-everything-4": (EVERYTHING, 4, 10, {"diy7": True}),
    "diy7-everything-5": (EVERYTHING, 5, 32, {"diy7": True}),
    "diy7-dependencies": (f"{CLASSIC} {DEPENDENCIES}", 5, 42, {"diy7": True}),
    "diy7-sequences": (f"[Rfi,PodRR] [PodWW,Coi] [Fre,Coe] {CLASSIC}", 5, 13, {"diy7": True}),
    "diy7-sequences-6": ("[Rfi,PosRR,PodRW] [PosWW,PodWR] Fre Rfe Coe PodWW", 6, 3, {"diy7": True}),
    "diy7-threads": (f"{CLASSIC} {SAME} Rmw", 5, 6, {"diy7": True, "threads": (3, 3)}),
    "diy7-annotations": ("PodWW PosRR Rfe Fre Rfi Coe Rlx.gpu Acq.gpu Rel.gpu", 4, 10, {"diy7": True}),
    "diy7-tree": ("PodWW PodRR Rfe Fre Fri Coe Rmw", 5, 18, {"diy7": True, "levels": TREE}),
}
LARGE = {
    "plain-8": (CLASSIC, 8, 36, {}),
    "everything-3-accesses": (EVERYTHING, 5, 132, {"thread_accesses": 3}),
    "tree-7": (CLASSIC, 7, 1080, {"levels": TREE}),
    "regions-6": (CLASSIC, 6, 388, {"levels": TREE, "regions": BOTH}),
    "annotated-atomics-5": ("Rmw Rfe Fre Coe PodWW PodRR PodRW Rlx.gpu Acq.gpu Rel.gpu Plain", 5, 1452, {}),
}


def found(vocabulary, size, solver="minisat22", **bounds):
    return [row(cycle).least() for cycle in cycles(CycleBounds(vocabulary, **bounds), size, solver)]


def same_as_plain_enumeration(vocabulary, size, bounds):
    synthesised = found(vocabulary, size, **bounds)
    assert len(synthesised) == len(set(synthesised)), "a cycle comes twice"
    assert set(synthesised) == all_cycles(vocabulary, size, **bounds)
    return len(synthesised)


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("text", "size", "count", "bounds"), (SMALL | DIY7).values(), ids=SMALL | DIY7)
def test_same_cycles_as_plain_enumeration(text, size, count, bounds):
    assert same_as_plain_enumeration(parse_edges(text, TREE), size, bounds) == count


# edges, what diy7 calls the last one: cycles of at most 4, 5, 6, .. edges that diy7 7.58 lists, with -mode critical
DIY7_LISTS = {
    "same": (f"{CLASSIC} {SAME}", "", (6, 12, 38, 76, 169)),
    "inner": (f"{CLASSIC} {INNER}", "", (6, 12, 35, 65, 138)),
    "both": (f"{CLASSIC} {SAME} {INNER}", "", (6, 12, 47, 97)),
    "dependencies": (f"{CLASSIC} {DEPENDENCIES}", "", (20, 62, 212, 587)),
    "few": ("PosRW PosRR PodRW Rfe Fre Coe", "", (1, 2, 5, 8, 13)),
    "atomic": (f"{CLASSIC} Rmw", "LxSx", (6, 21, 68, 160)),
}


@pytest.mark.parametrize(("text", "called", "counts"), DIY7_LISTS.values(), ids=DIY7_LISTS)
def test_the_cycles_of_diy7(text, called, counts):
    bounds = CycleBounds(parse_edges(text), diy7=True)
    ours: list[str] = []
    for size, count in enumerate(counts, 4):
        ours += [spelled(cycle.spelled) for cycle in cycles(bounds, size)]
        assert len(ours) == len(set(ours)) == count
    diy7 = shutil.which("diy7")
    if diy7 is None:
        pytest.skip("diy7 (herdtools7) is not on the PATH: its counts were compared, not its cycles")
    command = [diy7, "-arch", "AArch64", "-mode", "critical", "-size", str(size), "-nprocs", str(size)]
    words = text.replace("Rmw", called) if called else text
    done = subprocess.run([*command, "-cycleonly", "true", "-safe", words], check=True, capture_output=True, text=True)
    lines = [line.partition(": ")[2] for line in done.stdout.splitlines() if ": " in line]
    theirs = {spelled(line.replace(called, "Rmw") if called else line) for line in lines}
    assert theirs == set(ours)


def spelled(edges):
    """A cycle from where it is least."""
    words = edges.split()
    return min(" ".join(words[start:] + words[:start]) for start in range(len(words)))


@pytest.mark.slow
@pytest.mark.parametrize(("text", "size", "count", "bounds"), LARGE.values(), ids=LARGE)
def test_same_cycles_as_plain_enumeration_at_larger_sizes(text, size, count, bounds):
    assert same_as_plain_enumeration(parse_edges(text, TREE), size, bounds) == count


def some_words(rng):
    """A few edges of every kind, some in sequences, some with annotations, and a few annotations."""
    notes = list(all_annotations().values())
    edges = list(all_edges().values())
    communication = [edge for edge in edges if not edge.internal]
    words = [edge.name for edge in communication if rng.random() < 0.9]
    for _ in range(rng.randrange(2, 7)):
        edge = rng.choice(edges)
        first, second = (
            rng.choice([note.name for note in notes if end in note.fits]) for end in edge.source + edge.target
        )
        inline = rng.choice(["", "", "", first, first + second]) if edge.kind != "Rmw" else ""
        after = [other.name for other in edges if other.source == edge.target]
        words.append(rng.choice([edge.name + inline] * 3 + [f"[{edge.name}{inline},{rng.choice(after)}]"]))
    return " ".join(words + [note.name for note in rng.sample(notes, rng.randrange(3))])


@pytest.mark.parametrize("seed", range(5))
def test_random_edges_and_bounds(seed):
    rng = Random(f"cycles {seed}")
    total = 0
    for _ in range(20):
        text = some_words(rng)
        bounds = {
            "levels": rng.choice([(), (), ("cta",), ("gpu",), TREE]),
            "regions": rng.choice([(Region.GLOBAL,), (Region.GLOBAL,), BOTH]),
            "threads": rng.choice([None, (2, 3), (2, 2), (3, 3)]),
            "thread_accesses": rng.choice([2, 2, 3, 4]),
            "location_accesses": rng.choice([2, 3, 3, 4]),
        }
        for size in (3, 4, 5):
            total += same_as_plain_enumeration(parse_edges(text), size, bounds)
    assert total > 100


def test_known_cycles_are_not_found_again_however_they_are_turned():
    text, size, _, bounds = SMALL["tree-6"]
    encoding = CycleEncoding(CycleBounds(parse_edges(text), **bounds), size)
    everything = list(solutions(encoding, "minisat22"))
    known = [list(cycle.rotations())[-1] for cycle in everything[::2]]
    again = list(solutions(encoding, "minisat22", known=map(oriented, known)))
    assert len(again) == len(set(again))
    assert set(again) == set(everything[1::2])


@pytest.mark.parametrize(
    "name", ["everything-5", "annotated-atomics-3", "tree-annotations", "regions-cta", "sequences"]
)
def test_patterns_and_their_parts_have_the_cycles_that_the_solver_gives_one_by_one(name):
    text, size, count, bounds = SMALL[name]
    asked = CycleBounds(parse_edges(text, TREE), **bounds)
    one_by_one = set(solutions(CycleEncoding(asked, size), "minisat22"))
    assert len(one_by_one) == count
    assert set(cycles(asked, size)) == one_by_one
    parts = [part for pattern in patterns(asked, size) for part in pattern.parts(3)]
    assert all(part.choices <= 3 for part in parts)
    in_parts = [cycle for part in parts for cycle in part.cycles()]
    assert len(in_parts) == count
    assert set(in_parts) == one_by_one


def test_fences_and_annotations_are_alike_and_dependencies_are_not_where_they_can_meet_program_order():
    text = "PodWW PodRR FenceSc.gpu.dWW DpAddrdR DpAddrdW PodRW Rfe Fre Coe Rlx.gpu Acq.gpu Plain"
    edges, notes = CycleBounds(parse_edges(text)).alike()
    assert [[edge.name for edge in group] for group in edges if len(group) > 1] == [
        ["DpAddrdR", "PodRR"],
        ["DpAddrdW", "PodRW"],
        ["FenceSc.gpu.dWW", "PodWW"],
    ]
    assert [[note.name for note in group] for group in notes if len(group) > 1] == [["Plain", "Rlx.gpu"]]
    edges, _ = CycleBounds(parse_edges(text), thread_accesses=3).alike()
    assert [[edge.name for edge in group] for group in edges if len(group) > 1] == [["FenceSc.gpu.dWW", "PodWW"]]
    edges, notes = CycleBounds(parse_edges(f"{text} Rmw [PodWW,Rfe]")).alike()
    assert not [group for group in (*edges, *notes) if len(group) > 1 and "WW" in group[0].name]
    assert len(notes) == 3


SEQUENCES = [
    ("[Rfe,Fri] Rfe Fre PodWW PodRR", {}, "no cycle has [Rfe,Fri]: Rfe and then Fri are co themselves"),
    ("[Coe,Coe]", {}, "no cycle has [Coe,Coe]: Coe and then Coe are co themselves"),
    ("[PodWW,FenceSc.gpu.dWR]", {}, "no cycle has [PodWW,FenceSc.gpu.dWR]: PodWW and then FenceSc.gpu.dWR are fence"),
    ("[PodWW,Fre]", {}, "no cycle has [PodWW,Fre]: PodWW arrives at a write, and Fre leads from a read"),
    ("[PodWWPlainRel.gpu,RfeRel.ctaPlain]", {}, "what PodWW arrives at and Rfe leads from would be annotated twice"),
    ("[PodWW,Rfi]", {}, "a thread would have 3 accesses, and has at most 2"),
    ("[PosWW,Rfe,PosRR]", {}, "a location would have 4 accesses, and has at most 3"),
    ("[PodWW,Rfe,PodRW,Coe,PodWW]", {}, "it has 5 edges, and cycles have at most 4"),
]


@pytest.mark.parametrize(("text", "bounds", "message"), SEQUENCES, ids=[text for text, _, _ in SEQUENCES])
def test_a_sequence_that_gives_nothing_is_told_with_its_reason(text, bounds, message):
    asked = CycleBounds(parse_edges(text + " PodWW PodRR PodWR PodRW Rfe Fre Coe"), **bounds)
    (line,) = idle(asked, 4)
    assert message in line and "\n" not in line


def test_sequences_that_can_be_are_not_told():
    """Every cycle's own row of edges, and a choice of which one fits."""
    for name in ("everything-5", "compositions-4", "sequences", "sequences-around"):
        text, size, _, bounds = SMALL[name]
        for cycle in cycles(CycleBounds(parse_edges(text), **bounds), size):
            row_of_it = ",".join(edge.name for edge in cycle.edges)
            assert not idle(CycleBounds(parse_edges(f"[{row_of_it}]"), **bounds), size), cycle.spelled
    assert not idle(CycleBounds(parse_edges("[PodWW|PodWR,Rfe] [PodRR,Fre|Rfe]")), 4)
    assert not idle(CycleBounds(parse_edges("[Rfe,Fri]"), compositions=True), 4)


@pytest.mark.parametrize("size", [12, 13, 14, 24])
def test_sizes_have_no_end(size):
    """Threads in a row, each of which writes after what it reads; of each even length there is one cycle."""
    found = list(cycles(CycleBounds(parse_edges("PodRW Rfe")), size))
    assert len(found) == (size + 1) % 2
    for cycle in found:
        test = litmus_test(oriented(cycle))
        assert len(test.threads) == len(test.locations) == size // 2
        assert parse_litmus(dialect_for(test)[1]).threads


def test_a_large_size_gives_its_first_cycle_at_once():
    effort = SolverEffort()
    bounds = CycleBounds(parse_edges(f"{EVERYTHING} Rlx.gpu Acq.gpu Rel.gpu Plain"), TREE, BOTH)
    assert next(cycles(bounds, 8, effort=effort)).size == 8
    assert effort.calls == 1


# What the papers and their tools count


def names(text, size, **bounds):
    return sorted(cycle_name(oriented(cycle)) for cycle in cycles(CycleBounds(parse_edges(text), **bounds), size))


def test_the_classic_families():
    """The two-, three- and four-thread tests of up to two accesses a thread, as diy names them."""
    assert names(CLASSIC, 4) == ["2+2W", "LB", "MP", "R", "S", "SB"]
    assert names(CLASSIC, 5) == ["RWC", "WRC", "WRR+2W", "WRW+2W", "WRW+WR", "WWC"]
    assert names(CLASSIC, 6) == [
        *("3.2W", "3.LB", "3.SB", "IRIW", "IRRWIW", "IRWIW", "ISA2", "W+RWC"),
        *("Z6.0", "Z6.1", "Z6.2", "Z6.3", "Z6.4", "Z6.5"),
    ]
    assert names("PosRR PosRW Rfe Fre Coe", 3) == ["CoRR", "CoRW"]


def test_scope_trees_of_iriw_up_to_its_rotation():
    """Four threads have 60 scope trees of CTAs and GPUs; the half turn of IRIW, which 20 of them survive, leaves 40."""
    bounds = CycleBounds(parse_edges("Rfe PodRR Fre"), ("cta", "gpu"))
    placed = [oriented(cycle) for cycle in cycles(bounds, 6)]
    assert len(placed) == len({cycle.places for cycle in placed}) == 40
    turned = Counter(row(cycle) == row(cycle).rotated(3) for cycle in placed)
    assert turned == {True: 20, False: 20}
    assert 20 + 2 * 20 == 60


# Solvers


@pytest.mark.parametrize("solver", SOLVERS)
def test_every_solver_has_the_same_cycles(solver):
    vocabulary = parse_edges(f"{CLASSIC} PosRR MembarGldWW Rmw Rel.gpu")
    expected = set(found(vocabulary, 4, levels=("cta",), regions=BOTH))
    assert len(expected) == 57
    again = found(vocabulary, 4, solver, levels=("cta",), regions=BOTH)
    assert len(again) == len(expected) and set(again) == expected


def test_the_order_of_names_says_nothing():
    words = f"{CLASSIC} {SAME} Rmw MembarGldWW Rel.gpu Acq.gpu Plain".split()
    expected = set(cycles(CycleBounds(parse_edges(" ".join(words)), ("cta",)), 4))
    Random(4).shuffle(words)
    assert set(cycles(CycleBounds(parse_edges(" ".join(words)), ("cta",)), 4)) == expected


def test_nothing_is_made_of_nothing():
    assert not list(cycles(CycleBounds(EdgeVocabulary((), ())), 4))
    assert not list(cycles(CycleBounds(parse_edges("Rlx.gpu Plain")), 4))
    assert not list(cycles(CycleBounds(parse_edges("PodWW PodRR PodWR PodRW")), 4))
    assert not list(cycles(CycleBounds(parse_edges("Rfe Fre Coe")), 4))
